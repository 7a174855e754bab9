/**
 * Runs the commands that each Markdown page shows, in the order of the page, as its reader would: in a
 * checkout, with a home directory that is empty. `tools/documentation/documentation.test.ts` says how a
 * page marks the commands that are not run here.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPages, type CodeBlock, type Page, ROOT } from '../../tools/documentation/page.ts';
import { hasKubectl } from './kubectl.fixture.ts';
import { LOCKSTEP } from './local-cluster.fixture.ts';

const PAGE_TIMEOUT_MS = 110_000;
/** How long a command in the background may take to print something. */
const FIRST_OUTPUT_SECONDS = 60;

const START: CodeBlock = {
  line: 0,
  language: 'sh',
  mark: 'watch',
  text: 'npx lockstep up\nexport KUBECONFIG=~/.local/state/lockstep/kubeconfig\n',
};

function isRun({ language, mark }: CodeBlock): boolean {
  return language === 'sh' && ['', 'watch'].includes(mark);
}

/** A page that does not start the cluster itself is read beside one. */
function blocksOf(page: Page): readonly CodeBlock[] {
  const blocks = page.blocks.filter(isRun);
  return blocks.some(({ text }) => text.includes('lockstep up')) ? blocks : [START, ...blocks];
}

function scriptOf(page: Page): string {
  const steps = blocksOf(page).map((block) => {
    const title = `echo '== ${page.path}:${block.line}'`;
    return `${title}\n${block.mark === 'watch' ? inBackground(block) : block.text}`;
  });
  return ['set -ex -o pipefail', ...steps].join('\n');
}

/** The first command of the block in the background; those after it when it has printed something. */
function inBackground({ line, text }: CodeBlock): string {
  const [command = '', ...rest] = text.split('\n');
  const output = `"$HOME/${line}.log"`;
  const started = command.includes('lockstep up') ? 'export KUBECONFIG=' : '.';
  return [
    `${command} > ${output} 2>&1 &`,
    `timeout ${FIRST_OUTPUT_SECONDS} sh -c 'until grep -q "${started}" ${output}; do sleep 0.1; done'`,
    ...rest,
  ].join('\n');
}

async function run(script: string, home: string): Promise<{ code: number | null; output: string }> {
  const env = { PATH: process.env['PATH'], HOME: home, npm_config_update_notifier: 'false' };
  const child = spawn('bash', ['-c', script], { cwd: ROOT, env, detached: true });
  const timer = setTimeout(() => endGroup(child), PAGE_TIMEOUT_MS);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  try {
    return { code: await new Promise((resolve) => child.once('exit', resolve)), output };
  } finally {
    clearTimeout(timer);
    spawnSync(process.execPath, [LOCKSTEP, 'down'], { env });
    endGroup(child);
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

const pages = allPages().filter(({ blocks }) => blocks.some(isRun));

describe.skipIf(!hasKubectl())('the commands of', () => {
  it.each(pages)('$path', async (page) => {
    const home = mkdtempSync(join(tmpdir(), 'lockstep-page-'));
    try {
      const { code, output } = await run(scriptOf(page), home);
      expect(code, output).toBe(0);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
