/** The example that a newcomer runs on `lockstep up`: its commands, for the terminal and for the page. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellWord } from '@lockstep/kube/quote.ts';
import type { FirstLook } from '../dashboard/messages/overview.ts';

/** Also right in the built program, which lies one directory below the examples' parent. */
const EXAMPLE = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/')
      ? '../examples/mnist/jobset.yaml'
      : '../../examples/mnist/jobset.yaml',
    import.meta.url,
  ),
);

/** `kubeconfig` leads to the cluster; absent: the environment of the terminal does. */
export function firstLook(kubeconfig?: string): FirstLook {
  const flags = kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig];
  const near = relative(process.cwd(), EXAMPLE);
  // A page is read by someone whose terminal may be in any directory.
  const example = near.startsWith('..') || kubeconfig !== undefined ? EXAMPLE : near;
  return {
    apply: inShell('kubectl', ...flags, 'apply', '-f', example),
    kill: inShell('kubectl', ...flags, ...signal('KILL')),
    stop: inShell('kubectl', ...flags, ...signal('STOP')),
    report: inShell('npx', 'lockstep', 'report', 'mnist', ...flags),
  };
}

/** To one worker that trains; a standby beside it has another name. */
function signal(name: 'KILL' | 'STOP'): readonly string[] {
  return ['exec', 'job/mnist-workers-0', '--', 'pkill', `-${name}`, '-n', '-x', 'mnist-worker'];
}

function inShell(...words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
