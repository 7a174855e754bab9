import type { ManagedFieldsEntry } from '@lockstep/kube/meta.ts';
import { describe, expect, it } from 'vitest';
import { readManagers, withBoundedUpdaters, writeManagers } from './managers.ts';

function entry(more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry {
  return {
    manager: 'm',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {} } },
    ...more,
  };
}

function rewritten(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  return writeManagers(readManagers(entries) ?? new Map());
}

describe('managers', () => {
  it('are written as they were read: who applies first, then by time and name', () => {
    const entries = [
      entry({ operation: 'Apply', manager: 'z', time: '2026-01-02T00:00:00Z' }),
      entry({ manager: 'b', time: '2026-01-01T00:00:00Z' }),
      entry({ manager: 'a', time: '2026-01-02T00:00:00Z' }),
      entry({ manager: 'a', time: '2026-01-02T00:00:00Z', subresource: 'status' }),
    ];
    expect(rewritten(entries.toReversed())).toEqual(entries);
  });

  it('who update through two versions are two, who apply are one', () => {
    const through = (operation: ManagedFieldsEntry['operation']) =>
      rewritten([entry({ operation }), entry({ operation, apiVersion: 'v2' })]);
    expect(through('Update')).toHaveLength(2);
    expect(through('Apply')).toEqual([entry({ operation: 'Apply', apiVersion: 'v2' })]);
  });

  it.each([
    ['another operation', { ...entry({}), operation: 'Delete' }],
    ['no version', entry({ apiVersion: '' })],
    ['another notation', entry({ fieldsType: 'FieldsV2' })],
    ['no notation', { manager: 'm', operation: 'Update', apiVersion: 'v1' }],
    ['no object', 'm'],
  ] as const)('are none with %s', (_, bad) => {
    expect(readManagers([entry({}), bad])).toBeUndefined();
  });

  it('who update are ten at most, the oldest of a version taken together', () => {
    const entries = Array.from({ length: 13 }, (_, at) =>
      entry({
        manager: `m${at}`,
        time: `2026-01-01T00:00:${String(at).padStart(2, '0')}Z`,
        fieldsV1: { 'f:data': { [`f:${at}`]: {} } },
      }),
    );
    const managers = readManagers([...entries, entry({ operation: 'Apply' })]) ?? new Map();
    const [applier, oldest, ...others] = writeManagers(withBoundedUpdaters(managers));
    expect(applier?.operation).toBe('Apply');
    expect(oldest).toEqual(
      entry({
        manager: 'ancient-changes',
        time: '2026-01-01T00:00:03Z',
        fieldsV1: { 'f:data': { 'f:0': {}, 'f:1': {}, 'f:2': {}, 'f:3': {} } },
      }),
    );
    expect(others).toEqual(entries.slice(4));
  });
});
