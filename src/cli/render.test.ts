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
    expect(named(parseAllDocuments(yaml.output).map((one) => one.toJS()))).toEqual(expected);
    const json = JSON.parse(renderManifests(text, 'f', 'json').output);
    expect(named(json.items)).toEqual(expected);
  });

  test('prints every cause, of the schema and of the rules, and nothing else', () => {
    const text = manifest(
      `{ foo: 1, managedBy: x, replicatedJobs: [{ name: w, replicas: -1, ${JOB} }] }`,
      '{ name: Train }',
    );
    const { problems, output } = renderManifests(`${text}---\nkind: Job\n`, 'f.yaml', 'yaml');
    expect(output).toBe('');
    expect(problems.map((problem) => problem.split(':').slice(0, 2).join(':'))).toEqual([
      'f.yaml, document 1: unknown field "spec.foo"',
      'f.yaml, document 1: metadata.name',
      'f.yaml, document 1: spec.replicatedJobs[0].replicas',
      'f.yaml, document 1: spec.managedBy',
      'f.yaml, document 1: spec.replicatedJobs[0].name',
      'f.yaml, document 2: apiVersion is "undefined" and kind is "Job", expected jobset.x-k8s.io/v1alpha2 and JobSet',
    ]);
  });

  test.each([
    ['no YAML', '{', /document 1: /],
    ['YAML that is no object', 'just text', /expected jobset/],
    ['a spec that is none', manifest('5'), /spec: Invalid value: /],
    ['metadata that is none', manifest('{}', '[]'), /metadata: Invalid value: /],
    ['a JobSet without a name', manifest('{}', '{}'), /metadata.name: Required value/],
  ])('says what is wrong with %s', (_what, text, expected) => {
    expect(renderManifests(text, 'f', 'yaml').problems).toContainEqual(
      expect.stringMatching(expected),
    );
  });

  test('warns of what is allowed and hardly meant', () => {
    const text = manifest('{ failurePolicy: { maxRestarts: -1 } }');
    expect(renderManifests(text, 'f', 'yaml')).toMatchObject({
      problems: [],
      warnings: [expect.stringContaining('f, document 1: spec.failurePolicy.maxRestarts is -1')],
    });
  });

  test('takes a name that the server would generate for a sample of it', () => {
    const text = manifest(`{ replicatedJobs: [{ name: w, ${JOB} }] }`, '{ generateName: run- }');
    expect(renderManifests(text, 'f', 'yaml').output).toMatch(/name: run-.{5}-w-0\n/);
  });

  test.each(readdirSync(EXAMPLES).filter((file) => file.endsWith('.yaml')))(
    'renders the example %s without a word',
    (file) => {
      const text = readFileSync(join(EXAMPLES, file), 'utf8');
      const { problems, warnings, output } = renderManifests(text, file, 'yaml');
      expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
      expect(output).toContain('kind: Job');
    },
  );
});
