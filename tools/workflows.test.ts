/** What actionlint does not know of our workflows: who publishes when, and with which rights. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = join(import.meta.dirname, '../.github/workflows');
const WORKFLOWS = readdirSync(FOLDER).map((name) => ({ name, workflow: read(name) }));

function read(name: string): Workflow {
  return parse(readFileSync(join(FOLDER, name), 'utf8')) as Workflow;
}

function commandsOf({ steps }: Job): readonly string[] {
  return steps.flatMap(({ run }) => run ?? []);
}

describe.each(WORKFLOWS)('$name', ({ workflow }) => {
  const jobs = Object.entries(workflow.jobs);

  it('lets nobody write into a command: it gets values as variables', () => {
    const commands = jobs.flatMap(([, job]) => commandsOf(job));
    expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
  });

  it('reads the repository, and a job that does more says so', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const writers = jobs.filter(([, { permissions = {} }]) =>
      Object.values(permissions).includes('write'),
    );
    expect(writers.filter(([, { environment }]) => environment !== 'release')).toEqual([]);
  });
});

describe('release.yml', () => {
  const { jobs } = read('release.yml');
  const publishing = Object.entries(jobs).filter(
    ([, { environment }]) => environment === 'release',
  );

  it('publishes only when a tag is pushed, also if it is started by hand for a tag', () => {
    expect(publishing.map(([name]) => name)).toEqual(['images', 'chart', 'npm', 'page']);
    const unguarded = publishing.filter(
      ([, { if: condition, needs = [] }]) =>
        condition !== "github.event_name == 'push'" && !needs.includes('images'),
    );
    expect(unguarded).toEqual([]);
  });

  it('logs in where cosign looks, before cosign signs something in a registry', () => {
    const signing = publishing.filter(([, job]) =>
      commandsOf(job).some((command) => /cosign sign\s/.test(command)),
    );
    expect(signing.map(([name]) => name)).toEqual(['images', 'chart']);
    // Helm keeps what it logs in with in a file of its own.
    const login = /cosign login\s|skopeo login [^\n]*--authfile "\$HOME\/\.docker\/config\.json"/;
    for (const [name, job] of signing) {
      const commands = commandsOf(job);
      const loggedIn = commands.findIndex((command) => login.test(command));
      const signed = commands.findIndex((command) => /cosign sign\s/.test(command));
      expect(loggedIn, name).toBeGreaterThanOrEqual(0);
      expect(loggedIn, name).toBeLessThan(signed);
    }
  });

  it('has an identity wherever it signs or says where something comes from', () => {
    for (const [name, job] of publishing) {
      const signs =
        commandsOf(job).some((command) => /cosign sign|npm publish --provenance/.test(command)) ||
        job.steps.some(({ uses }) => uses?.startsWith('actions/attest-') === true);
      expect(job.permissions?.['id-token'] === 'write', name).toBe(signs);
    }
  });
});
