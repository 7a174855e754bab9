/** A stock kubectl. Set `KUBECTL` to try another version. */
import { execFile, spawnSync } from 'node:child_process';

export const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

/** Prints the reason, once per suite, if kubectl is not installed. */
export function hasKubectl(): boolean {
  if (spawnSync(KUBECTL, ['version', '--client']).status === 0) return true;
  process.stderr.write(`skipped: "${KUBECTL}" is not to be found, so kubectl is not tried\n`);
  return false;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Standard output of a command that must succeed. */
export async function kubectlOutput(
  kubeconfig: string,
  ...args: readonly string[]
): Promise<string> {
  const { exitCode, stdout, stderr } = await runKubectl(kubeconfig, args);
  if (exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export interface KubectlResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function runKubectl(
  kubeconfig: string,
  args: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = {},
): Promise<KubectlResult> {
  return new Promise((resolve) => {
    const child = execFile(
      KUBECTL,
      ['--kubeconfig', kubeconfig, ...args],
      { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : Number(error.code ?? 1);
        resolve({ exitCode, stdout, stderr });
      },
    );
    child.stdin?.end(input);
  });
}
