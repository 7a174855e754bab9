/** Prints `status` for tests, ten minutes after midnight. */
import type { StatusView } from '../../jobset/view/status-view.ts';
import * as printed from './member-table.ts';

const AT = { isWide: false, nowMs: Date.parse('2026-01-01T00:10:00Z') };

export function memberTable(view: StatusView, options: Partial<printed.TableOptions> = {}): string {
  return printed.memberTable(view, { ...AT, ...options });
}

export function memberScreen(
  view: StatusView,
  screen: { readonly rows: number; readonly columns: number },
): readonly string[] {
  return printed.memberScreen(view, screen, AT);
}
