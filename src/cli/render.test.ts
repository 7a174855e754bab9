import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { renderManifests } from './render.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/policies');

function manifest(spec: string, metadata = '{ name: train }'): string {
  return `apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: ${metadata}\nspec: ${spec}\n`;
}

const JOB = 'template: { spec: { template: { spec: { containers: [{ name: c, image: i }] } } } }';

function textOf(output: Iterable<string>): string {
  return [...output].join('');
}

/** Ten lines, which expand to ten to the power of ten. */
const ALIASES = Array.from({ length: 10 }, (_, i) => {
  const before = i === 0 ? 'x' : `*a${i - 1}`;
  return `k${i}: &a${i} [${Array(10).fill(before).join(', ')}]`;
}).join('\n');

describe('lockstep render', () => {
  test('prints the Service, the claims and the Jobs of every JobSet, as YAML or as one JSON list', () => {
    const volumes = 'volumeMounts: [{ name: data, mountPath: /data }]';
    const text = [
      manifest(`{
        replicatedJobs: [{ name: w, replicas: 2, ${JOB.replace('image: i', `image: i, ${volumes}`)} }],
        volumeClaimPolicies: [{ templates: [{ metadata: { name: data }, spec: {} }] }] }`),
      manifest(`{ replicatedJobs: [{ name: v, ${JOB} }] }`, '{ name: other, namespace: ml }'),
    ].join('---\n');
    const named = (objects: readonly unknown[]): readonly string[] =>
      objects.map((object) => {
        const { kind, metadata } = object as { kind: string; metadata: Record<string, string> };
        return `${kind} ${metadata['namespace']}/${metadata['name']}`;
      });
    const expected = [
      'Service default/train',
      'PersistentVolumeClaim default/data-train',
      'Job default/train-w-0',
      'Job default/train-w-1',
      'Service ml/other',
      'Job ml/other-v-0',
    ];
    const yaml = renderManifests(text, 'f', 'yaml');
    expect(yaml.problems).toEqual([]);
    expect(named(parseAllDocuments(textOf(yaml.output)).map((one) => one.toJS()))).toEqual(
      expected,
    );
    const json = textOf(renderManifests(text, 'f', 'json').output);
    const list = JSON.parse(json);
    expect(named(list.items)).toEqual(expected);
    expect(json).toBe(`${JSON.stringify(list, undefined, 2)}\n`);
  });

  test('prints every cause, of the schema and of the rules, and nothing else', () => {
    const text = manifest(
      `{ foo: 1, managedBy: x, replicatedJobs: [{ name: w, replicas: -1, ${JOB} }] }`,
      '{ name: Train }',
    );
    const { problems, output } = renderManifests(`${text}---\nkind: JobSet\n`, 'f.yaml', 'yaml');
    expect(output).toEqual([]);
    expect(problems.map((problem) => problem.split(':').slice(0, 2).join(':'))).toEqual([
      'f.yaml, document 1: unknown field "spec.foo"',
      'f.yaml, document 1: metadata.name',
      'f.yaml, document 1: spec.replicatedJobs[0].replicas',
      'f.yaml, document 1: spec.managedBy',
      'f.yaml, document 1: spec.replicatedJobs[0].name',
      'f.yaml, document 2: apiVersion is missing and kind is "JobSet", expected JobSet of jobset.x-k8s.io/v1alpha2',
    ]);
  });

  test.each([
    ['no YAML', 'a: 1\nb: {', /^f, document 1: .* at line 2$/],
    ['a key twice', 'a: 1\na: 2', /^f, document 1: Map keys must be unique at line 2$/],
    ['nothing', '', /^f contains no JobSet$/],
    ['empty documents', '# nothing\n---\n---\n', /^f contains no JobSet$/],
    ['other objects only', 'apiVersion: v1\nkind: Pod\n', /^f contains no JobSet$/],
    ['another version', 'apiVersion: x/v1\nkind: JobSet', /^f, document 1: apiVersion is "x\/v1"/],
    ['an object without kind', '{}', /apiVersion is missing and kind is missing, expected JobSet/],
    ['more levels than any object has', `a: ${'['.repeat(5000)}${']'.repeat(5000)}`, /levels of/],
    ['aliases of aliases', ALIASES, /^f, document 1: .*alias/],
    ['YAML that is no object', 'just text', /no object, expected JobSet of/],
    ['a spec that is none', manifest('5'), /spec: Invalid value: /],
    ['metadata that is none', manifest('{}', '[]'), /metadata: Invalid value: /],
    ['a JobSet without a name', manifest('{}', '{}'), /metadata.name: Required value/],
  ])('says what is wrong with %s', (_what, text, expected) => {
    expect(renderManifests(text, 'f', 'yaml').problems).toContainEqual(
      expect.stringMatching(expected),
    );
  });

  test('says why an API server would not take the Jobs, once for each template', () => {
    const mounts = JOB.replace('image: i', 'image: i, volumeMounts: [{ name: v, mountPath: /v }]');
    const text = manifest(`{ replicatedJobs: [{ name: w, replicas: 3, ${mounts} }] }`);
    expect(renderManifests(text, 'f', 'yaml')).toMatchObject({
      problems: [
        'f, document 1: Job train-w-0: spec.template.spec.containers[0].volumeMounts[0].name: Not found: "v"',
      ],
      output: [],
    });
  });

  test('takes the JobSets among other objects, and says what it leaves out', () => {
    const items = `{ apiVersion: v1, kind: List, items: [{ apiVersion: v1, kind: Pod }, ${JSON.stringify(
      { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { name: 'b' }, spec: {} },
    )}] }`;
    const text = `apiVersion: v1\nkind: ConfigMap\n---\n${manifest('{}')}---\n${items}`;
    const { problems, warnings, output } = renderManifests(text, 'f', 'yaml');
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'f, document 1: ConfigMap of v1 is not a JobSet and is skipped',
      'f, document 3, items[0]: Pod of v1 is not a JobSet and is skipped',
    ]);
    expect(textOf(output)).toMatch(/name: train\n.*name: b\n/s);
  });

  test('builds Jobs only as they are read, and refuses more than the definition takes', () => {
    const of = (replicas: number) =>
      renderManifests(
        manifest(`{ replicatedJobs: [{ name: w, replicas: ${replicas}, ${JOB} }] }`),
        'f',
        'yaml',
      );
    const [service, first] = of(100_000).output;
    expect(service).toMatch(/kind: Service/);
    expect(first).toMatch(/name: train-w-0\n/);
    expect(of(2_000_000_000).problems).toContain(
      'f, document 1: spec.replicatedJobs: Invalid value: 2000000000: the sum of replicas must not exceed 100000',
    );
  });

  test('warns of values that a newer Kubernetes may know, and takes fractions', () => {
    const more = 'image: i, imagePullPolicy: Lazy, resources: { requests: { cpu: 0.5 } }';
    const text = manifest(`{ replicatedJobs: [{ name: w, ${JOB.replace('image: i', more)} }] }`);
    const { problems, warnings, output } = renderManifests(text, 'f', 'yaml');
    expect({ problems, warnings }).toEqual({
      problems: [],
      warnings: [
        'f, document 1: spec.replicatedJobs[0].template.spec.template.spec.containers[0].imagePullPolicy: "Lazy" is none of the values that Lockstep knows ("Always", "IfNotPresent", "Never"); an API server that does not know it either refuses the Job',
      ],
    });
    expect(textOf(output)).toMatch(/imagePullPolicy: Lazy\n.*cpu: 500m\n/s);
  });

  test('warns of fields that are valid but probably wrong', () => {
    const text = manifest('{ failurePolicy: { maxRestarts: -1 } }');
    expect(renderManifests(text, 'f', 'yaml')).toMatchObject({
      problems: [],
      warnings: [expect.stringContaining('f, document 1: spec.failurePolicy.maxRestarts is -1')],
    });
  });

  test('takes a name that the server would generate for a sample of it', () => {
    const text = manifest(`{ replicatedJobs: [{ name: w, ${JOB} }] }`, '{ generateName: run- }');
    expect(textOf(renderManifests(text, 'f', 'yaml').output)).toMatch(/name: run-.{5}-w-0\n/);
  });

  test.each(readdirSync(EXAMPLES).filter((file) => file.endsWith('.yaml')))(
    'renders the example %s without a word',
    (file) => {
      const text = readFileSync(join(EXAMPLES, file), 'utf8');
      const { problems, warnings, output } = renderManifests(text, file, 'yaml');
      expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
      expect(textOf(output)).toContain('kind: Job');
    },
  );
});
