/** What the version of the API server says. */
import { IN_PLACE_MINOR, minorOf, OLDEST_MINOR } from '../install/preflight.ts';
import type { Finding } from './finding.ts';

export function apiServerFindings(serverVersion: string): readonly Finding[] {
  const about = { topic: 'Kubernetes', check: 'version' } as const;
  const minor = minorOf(serverVersion);
  const runs = `the API server runs Kubernetes ${serverVersion}`;
  if (minor < OLDEST_MINOR) {
    const text = `${runs}; Lockstep needs 1.${OLDEST_MINOR} or later`;
    return [{ ...about, level: 'problem', text, fix: 'upgrade the cluster' }];
  }
  if (minor < IN_PLACE_MINOR) {
    const text = `${runs}; before 1.${IN_PLACE_MINOR} no node restarts all containers of a Pod, so agents supervise their workers, whose containers need a command`;
    return [{ ...about, level: 'note', text, fix: 'docs/reference/agents.md' }];
  }
  return [{ ...about, level: 'ok', text: runs }];
}
