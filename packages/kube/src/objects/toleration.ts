import type { Taint } from './node.ts';
import type { Toleration } from './pod.ts';

/**
 * `core/v1 Toleration`. Without a key, `Exists` tolerates everything; without an effect, any
 * effect.
 */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
  const isAnyKey = key === undefined || key === '';
  if (!isAnyKey && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return !isAnyKey && (value ?? '') === (taint.value ?? '');
}
