import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addClusterCommands } from '../command-line/cluster-commands.ts';
import { addCompletionCommand } from '../command-line/completion-command.ts';
import { addInstallationCommands } from '../command-line/installation-commands.ts';
import { addJobSetCommands } from '../command-line/jobset-commands.ts';
import { isDnsName, isPlain } from './names.ts';
import { wantedAfter } from './wanted.ts';

function program(): Command {
  const all = new Command('lockstep');
  addClusterCommands(all);
  addJobSetCommands(all);
  addInstallationCommands(all);
  addCompletionCommand(all);
  return all;
}

/** The values alone. */
function valuesAfter(line: string): readonly string[] | object {
  const wanted = wantedAfter(program(), line.split(' '));
  return wanted.kind === 'Candidates' ? wanted.candidates.map(({ value }) => value) : wanted;
}

const NAMES = { given: {}, typed: '', typedPrefix: '', taken: [] };

describe('the end of a line', () => {
  it.each<[string, readonly string[] | object]>([
    ['re', ['render', 'restart', 'report']],
    ['nonsense', []],
    ['nonsense x', []],
    ['status --o', ['--output']],
    ['status -o ', ['json', 'yaml', 'wide', 'name']],
    ['status -o j', ['json']],
    ['status --output=ya', ['yaml']],
    ['status --unknown=ya', []],
    ['report -o ', ['json', 'yaml']],
    ['install -o ', ['yaml']],
    ['demo --strategy In', ['InPlaceRestart']],
    ['up --agent-channel ', ['Hub', 'Auto', 'API']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['node s', ['stop', 'start']],
    ['node stop ', []],
    ['logs --rank ', []],
    ['render ', { kind: 'Files' }],
    ['status --kubeconfig ', { kind: 'Files' }],
    ['status ', { ...NAMES, kind: 'JobSets' }],
    ['status -- ', { ...NAMES, kind: 'JobSets' }],
    ['status a tr', { ...NAMES, kind: 'JobSets', typed: 'tr', taken: ['a'] }],
    ['logs a ', []],
    ['logs jobset/tr', { ...NAMES, kind: 'JobSets', typed: 'tr', typedPrefix: 'jobset/' }],
    [
      'nodes a --',
      [
        '--kubeconfig',
        '--context',
        '--namespace',
        '--forget',
        '--all',
        '--timeout',
        '--output',
        '--help',
      ],
    ],
    ['doctor --probe tr', { ...NAMES, kind: 'JobSets', typed: 'tr' }],
    ['doctor --jobset-namespace te', { ...NAMES, kind: 'Namespaces', typed: 'te' }],
    ['nodes tr', { ...NAMES, kind: 'JobSets', typed: 'tr' }],
    ['nodes -o ', ['json', 'yaml']],
    ['logs -f -n team ', { ...NAMES, kind: 'JobSets', given: { namespace: 'team' } }],
    ['logs -nteam ', { ...NAMES, kind: 'JobSets', given: { namespace: 'team' } }],
    ['logs -n=team ', { ...NAMES, kind: 'JobSets', given: { namespace: 'team' } }],
    [
      'restart --context=x --kubeconfig k ',
      { ...NAMES, kind: 'JobSets', given: { context: 'x', kubeconfig: 'k' } },
    ],
    ['status -n te', { ...NAMES, kind: 'Namespaces', typed: 'te' }],
    ['status --context=a', { ...NAMES, kind: 'Contexts', typed: 'a' }],
  ])('"%s"', (line, wanted) => {
    expect(valuesAfter(line)).toEqual(wanted);
  });

  it('is a command with its description', () => {
    const wanted = wantedAfter(program(), ['sta']);
    const description = 'list JobSets, or show one and its members';
    expect(wanted).toEqual({ kind: 'Candidates', candidates: [{ value: 'status', description }] });
  });

  it('is a form wherever an output is asked for', () => {
    const commands = program().commands.filter(({ options }) =>
      options.some(({ long }) => long === '--output'),
    );
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) {
      const forms = valuesAfter(`${command.name()} -o `);
      expect(forms, command.name()).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(json|yaml)$/)]),
      );
      expect(['json', 'yaml', 'wide', 'name']).toEqual(expect.arrayContaining(forms as string[]));
    }
  });
});

it.each(['$(reboot)', 'a b', '`x`', "a'b", 'a\nb', 'a;b', '-rf', '', 'a|b', '\u001b[2J'])(
  'a shell never sees the name %j',
  (name) => {
    expect([isDnsName(name), isPlain(name)]).toEqual([false, false]);
  },
);

it('a shell sees names of objects, and of contexts as providers make them', () => {
  expect(['train', 'a.b-c.9'].map(isDnsName)).toEqual([true, true]);
  const contexts = ['arn:aws:eks:us-east-1:12:cluster/a', 'kubernetes-admin@kind', 'gke_p_z_c'];
  expect(contexts.map(isPlain)).toEqual([true, true, true]);
});
