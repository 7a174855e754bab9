import { JOBS } from '@lockstep/kube/objects/job.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forbidden, notFound } from '@lockstep/kube/status-errors.ts';
import { describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import type { OverviewRow } from '../../jobset/view/overview.ts';
import type { Terminal } from '../jobset-status/status-printer.ts';
import { lookOnce } from './command.ts';
import { liveListPrinter, printList } from './list-printer.ts';
import { listTable } from './list-table.ts';
import { parseList } from './options.ts';

const NOW_MS = Date.parse('2026-01-01T10:00:00Z');
const BUDGET = { countedRestarts: 0, maxRestarts: 3, extraRestarts: 0, restartsWithoutProgress: 0 };

function row(name: string, more: Partial<OverviewRow> = {}): OverviewRow {
  return {
    namespace: 'default',
    name,
    uid: `uid-of-${name}`,
    state: 'Released',
    shown: { kind: 'Running', text: 'Running' },
    epoch: 1,
    ready: 4,
    size: 4,
    budget: BUDGET,
    restarts: 0,
    goodput: null,
    goodputUnknown: 'no checkpoint was reported',
    goodputUntilMs: null,
    lastFailure: null,
    createdMs: NOW_MS - 90_000,
    finishedMs: null,
    ...more,
  };
}

const TRAIN = row('train', {
  epoch: 3,
  ready: 3,
  budget: { ...BUDGET, countedRestarts: 2, restartsWithoutProgress: 1 },
  goodput: 0.99999,
  goodputUntilMs: NOW_MS - 600_000,
  lastFailure: {
    timeMs: NOW_MS - 5000,
    text: `worker 5 of w (w-0, index 5): \u001b[2J${'x'.repeat(99)}`,
  },
});
const PLAIN = row('a-plain-one', {
  state: 'Completed',
  shown: { kind: 'Completed', text: 'Completed' },
  epoch: null,
  ready: null,
  goodput: 1,
  goodputUntilMs: NOW_MS - 600_000,
  finishedMs: NOW_MS - 3_600_000,
});
const SHORT = { hasNamespaces: false, isWide: false, hasHeadings: true };

describe('a table of JobSets', () => {
  it('says how old a share is that no write has judged again for an hour', () => {
    const options = { ...SHORT, hasHeadings: false };
    const [line] = listTable(
      [{ ...TRAIN, goodputUntilMs: NOW_MS - 3 * 86_400_000 }],
      options,
      NOW_MS,
    );
    expect(line).toContain(' 99.9% (3d ago) ');
  });

  it('has the columns of kubectl, and no control character', () => {
    expect(listTable([PLAIN, TRAIN], SHORT, NOW_MS)).toEqual([
      'NAME          STATE       EPOCH   READY   RESTARTS   GOODPUT   LAST FAILURE                                                   AGE',
      'a-plain-one   Completed   -       ?/4     0/3        100%      -                                                              90s',
      `train         Running     3       3/4     2/3        99.9%     5s ago: worker 5 of w (w-0, index 5): \\x1b[2J${'x'.repeat(12)}...   90s`,
    ]);
  });

  const SILENT = row('train', {
    shown: {
      kind: 'Running',
      text: 'Running',
      silence: { sinceMs: NOW_MS - 11_000, limitMs: 100_000, isLong: false, isSinceRelease: true },
    },
    lastFailure: { timeMs: NOW_MS - 125_000, text: 'worker 2 on node n-7: was killed by SIGKILL' },
  });

  it.each<[number, readonly OverviewRow[], readonly string[]]>([
    [
      130,
      [SILENT],
      [
        'NAME    STATE                                                EPOCH   READY   RESTARTS   GOODPUT   LAST FAILURE               AGE',
        'train   Running, no step for 11s of 100s since the release   1       4/4     0/3        unknown   2m5s ago: worker 2 on...   90s',
      ],
    ],
    [
      120,
      [SILENT],
      [
        'NAME    STATE                              EPOCH   READY   RESTARTS   GOODPUT   LAST FAILURE                         AGE',
        'train   Running, no step for 11s of 100s   1       4/4     0/3        unknown   2m5s ago: worker 2 on node n-7:...   90s',
      ],
    ],
    [
      80,
      [SILENT],
      [
        'NAME    STATE                              READY   LAST FAILURE',
        'train   Running, no step for 11s of 100s   4/4     2m5s ago: worker 2 on node...',
      ],
    ],
    [
      60,
      [SILENT],
      [
        'NAME    STATE                              LAST FAILURE',
        'train   Running, no step for 11s of 100s   2m5s ago: work...',
      ],
    ],
    [
      120,
      [PLAIN, TRAIN],
      [
        'NAME          STATE       EPOCH   READY   RESTARTS   GOODPUT   LAST FAILURE                               AGE',
        'a-plain-one   Completed   -       ?/4     0/3        100%      -                                          90s',
        'train         Running     3       3/4     2/3        99.9%     5s ago: worker 5 of w (w-0, index 5):...   90s',
      ],
    ],
    [
      80,
      [PLAIN, TRAIN],
      [
        'NAME          STATE       READY   RESTARTS   LAST FAILURE',
        'a-plain-one   Completed   ?/4     0/3        -',
        'train         Running     3/4     2/3        5s ago: worker 5 of w (w-0,...',
      ],
    ],
    [
      60,
      [PLAIN, TRAIN],
      [
        'NAME          STATE       READY   LAST FAILURE',
        'a-plain-one   Completed   ?/4     -',
        'train         Running     3/4     5s ago: worker 5 of w...',
      ],
    ],
    [
      60,
      [PLAIN],
      [
        'NAME          STATE       READY   RESTARTS   LAST FAILURE',
        'a-plain-one   Completed   ?/4     0/3        -',
      ],
    ],
    [20, [TRAIN], ['NAME    STATE     LAST FAILURE', 'train   Running   5s ago: work...']],
  ])('keeps name, state and the first words of failures at %d columns', (width, rows, lines) => {
    expect(listTable(rows, { ...SHORT, width }, NOW_MS)).toEqual(lines);
  });

  it('says more when wide', () => {
    const [headings, plain, train] = listTable([PLAIN, TRAIN], { ...SHORT, isWide: true }, NOW_MS);
    expect(headings).toMatch(/LAST FAILURE +ENDED +NO PROGRESS +UID +AGE$/);
    expect(plain).toMatch(/ 60m +0 +uid-of-a-plain-one +90s$/);
    expect(train).toContain('x'.repeat(99));
  });

  it('has namespaces, and no headings, where that is wanted', () => {
    const options = { ...SHORT, hasNamespaces: true, hasHeadings: false };
    expect(listTable([row('train')], options, NOW_MS)).toEqual([
      'default   train   Running   1   4/4   0/3   unknown   -   90s',
    ]);
  });
});

function terminal(screen?: Terminal['screen']): Terminal & { readonly text: () => string } {
  let text = '';
  return {
    write: (more) => {
      text += more;
    },
    screen,
    text: () => text,
  };
}

const FORM = { hasHeadings: true, isEverywhere: false } as const;

describe('a list', () => {
  it.each([
    ['name', 'jobset.jobset.x-k8s.io/a\njobset.jobset.x-k8s.io/b\n'],
    ['table', /^NAME +STATE.*\na .*\nb .*\n$/],
    ['json', /^\{\n {2}"items": \[\n {4}\{\n {6}"namespace": "default",\n {6}"name": "a",/],
    ['yaml', /^items:\n {2}- namespace: default\n {4}name: a\n/],
  ] as const)('is printed as %s', (output, text) => {
    const to = terminal();
    printList({ rows: [row('a'), row('b')] }, { ...FORM, output }, to, NOW_MS);
    expect(to.text()).toMatch(text);
  });

  it('has what asks for attention first, but for programs', () => {
    const rows = [row('a'), row('b', { shown: { kind: 'Failed', text: 'Failed' } })];
    const [table, names] = [terminal(), terminal()];
    printList({ rows }, { ...FORM, hasHeadings: false, output: 'table' }, table, NOW_MS);
    printList({ rows }, { ...FORM, output: 'name' }, names, NOW_MS);
    expect(table.text()).toMatch(/^b .*\na .*\n$/);
    expect(names.text()).toMatch(/\/a\n.*\/b\n$/);
  });

  it.each(['name', 'table'] as const)('as %s cannot change the terminal', (output) => {
    const to = terminal();
    printList({ rows: [row('a\u001b[31m\nb')] }, { ...FORM, output }, to, NOW_MS);
    expect(to.text()).toContain('a\\x1b[31m\\nb');
  });

  it.each([
    ['json', '{\n  "items": []\n}\n'],
    ['yaml', 'items: []\n'],
    ['table', ''],
    ['name', ''],
  ] as const)('without items is printed as %s', (output, text) => {
    const to = terminal();
    printList({ rows: [] }, { ...FORM, output }, to, NOW_MS);
    expect(to.text()).toBe(text);
  });

  it('that is watched shows what has changed', () => {
    const to = terminal();
    const show = liveListPrinter({ ...FORM, output: 'table' }, to, () => NOW_MS);
    show({ rows: [row('a'), row('b')] });
    show({ rows: [row('a'), row('b', { state: 'AtBarrier' })] });
    show({ rows: [row('a')] });
    show({ rows: [row('a'), row('b', { state: 'AtBarrier' })] });
    const names = to
      .text()
      .split('\n')
      .map((line) => line.slice(0, 4).trim());
    expect(names).toEqual(['NAME', 'a', 'b', 'b', 'b', '']);
  });

  it.each([
    [
      'json',
      (text: string) =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).name),
    ],
    ['yaml', (text: string) => [...text.matchAll(/^name: (.*)$/gm)].map(([, name]) => name)],
  ] as const)('that is watched is documents of %s', (output, namesIn) => {
    const to = terminal();
    const show = liveListPrinter({ ...FORM, output }, to, () => NOW_MS);
    show({ rows: [row('a'), row('b')] });
    show({ rows: [row('a'), row('b', { ready: 0 })] });
    expect(namesIn(to.text())).toEqual(['a', 'b', 'b']);
  });

  it('fits the screen, and says what it leaves out', () => {
    const to = terminal({ rows: 6, columns: 30 });
    const show = liveListPrinter({ ...FORM, output: 'table' }, to, () => NOW_MS);
    show({
      rows: 'abcdef'.split('').map((name) => row(name)),
      problem: 'not up to date \u001b[31m',
    });
    const lines = to.text().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines.join('\n')).toMatch(/\na .*\nb .*\nand 4 more.*\nnot up to date \\x1b\[31m/);
    for (const line of lines)
      expect(
        line.replaceAll('\u001b[K', '').replace('\u001b[H', '').replace('\u001b[J', '').length,
      ).toBeLessThanOrEqual(30);
  });
});

describe('a look at the cluster', () => {
  const OPTIONS = {
    names: [],
    namespace: undefined,
    isEverywhere: false,
    selector: undefined,
    output: 'table',
    hasHeadings: true,
    isLive: false,
  } as const;
  const TRAINS = [storedJobSet({}, { name: 'b' }), storedJobSet({}, { name: 'a' })];
  const GROUP = jobSetWith(2, 3, 7);
  const HUNG = {
    jobSet: GROUP.metadata.uid,
    epoch: 3,
    announced: 2,
    silence: { sinceMs: 0, isLong: true },
  };

  /** What the server answers for each resource. */
  function lookAt(answers: Readonly<Record<string, readonly object[] | Error>>, names: string[]) {
    const list = ({ plural }: Resource): Promise<object> => {
      const answer = answers[plural] ?? [];
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({ items: answer, metadata: {} });
    };
    const { signal } = new AbortController();
    const options = { ...OPTIONS, names };
    const hub = { ask: () => Promise.resolve(new Map([[HUNG.jobSet, HUNG]])) };
    return lookOnce({
      client: { list } as unknown as Client,
      namespace: 'n',
      options,
      hub,
      signal,
    });
  }

  it('goes without Jobs that may not be listed, and says so', async () => {
    const { view } = await lookAt({ jobsets: TRAINS, jobs: forbidden(JOBS, '', 'no') }, []);
    expect(view.rows.map(({ name, ready }) => [name, ready])).toEqual([
      ['a', null],
      ['b', null],
    ]);
    expect(view.problem).toBe('you may not list Jobs, so it is unknown how many Pods are ready');
  });

  it('has what the hub tells of a group', async () => {
    const released = { ...GROUP, status: { ...GROUP.status, syncedEpoch: 3 } };
    const { view } = await lookAt({ jobsets: [released, ...TRAINS] }, []);
    expect(view.rows.map(({ shown }) => shown.text)).toEqual([
      'No operator?',
      'No operator?',
      'Hung?',
    ]);
    const gathering = await lookAt({ jobsets: [GROUP] }, []);
    expect(gathering.view.rows[0]?.shown.text).toBe('At barrier 1 of 1');
  });

  it('finds the named ones, and names what is not there', async () => {
    const { view, missing } = await lookAt({ jobsets: TRAINS }, ['b', 'c']);
    expect([view.rows.map(({ name }) => name), missing]).toEqual([['b'], ['c']]);
    expect(view.problem).toBeUndefined();
  });

  it('says what to do where JobSets are unknown', async () => {
    const unknown = lookAt({ jobsets: notFound(JOBSETS, '') }, []);
    await expect(unknown).rejects.toThrow('this cluster does not know JobSets: run "lockstep');
    const refused = forbidden(JOBSETS, '', 'no');
    await expect(lookAt({ jobsets: refused }, [])).rejects.toBe(refused);
  });
});

describe('the arguments of a list', () => {
  it.each<[string, readonly string[], object, readonly string[]]>([
    ['-o', [], { output: 'xml' }, ['--output is "xml", allowed are json, yaml, wide, name']],
    [
      '-A and a name',
      ['train'],
      { allNamespaces: true },
      ['--all-namespaces and JobSet "train": a name is of one namespace, use --namespace'],
    ],
    [
      '-A and -n',
      [],
      { allNamespaces: true, namespace: 'a' },
      ['--all-namespaces and --namespace "a": only one of them is allowed'],
    ],
    [
      '-l and a name',
      ['a', 'b'],
      { selector: 'x=y' },
      ['--selector "x=y" and JobSet "a": only one of them is allowed'],
    ],
    ['-l', [], { selector: 'x in' }, [expect.stringMatching(/^--selector is "x in": /)]],
    ['-n', [], { namespace: 'A' }, [expect.stringMatching(/^--namespace is "A": /)]],
    ['a name', ['ok', 'No_t'], {}, [expect.stringMatching(/^the name of the JobSet is "No_t": /)]],
    [
      '-w and -o name',
      [],
      { watch: true, output: 'name' },
      ['--watch and --output name: a name does not change'],
    ],
  ])('%s gets one clear line', (_, names, flags, errors) => {
    expect(parseList(names, flags)).toEqual({ errors });
  });

  it('have defaults', () => {
    expect(parseList(['a', 'b', 'a'], { headers: true })).toEqual({
      options: {
        names: ['a', 'b'],
        namespace: undefined,
        isEverywhere: false,
        selector: undefined,
        output: 'table',
        hasHeadings: true,
        isLive: false,
      },
    });
  });
});
