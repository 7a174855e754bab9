/**
 * The base and its components, as the Kustomize in kubectl builds them: they make what `lockstep
 * install` makes. Skipped, with the reason printed, if kubectl is not installed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { manifest } from '../src/deploy/manifest.ts';
import { defaultSettings } from '../src/deploy/settings.ts';
import { hasKubectl, KUBECTL } from '../test/e2e/kubectl.fixture.ts';
import { COMPONENTS } from './kustomize.ts';

const DEPLOY = join(import.meta.dirname, '../deploy');
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const SETTINGS = defaultSettings(packageJson.version);

describe.skipIf(!hasKubectl())('kustomize', () => {
  let directory: string;

  beforeAll(() => {
    // Kustomize follows links, and knows paths only as relative ones.
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-kustomize-')));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** The objects of a user's kustomization on top of the base, by kind, namespace and name. */
  function build(components: readonly string[], more: object = {}) {
    const from = relative(directory, DEPLOY);
    const kustomization = {
      resources: [from],
      components: components.map((name) => `${from}/kustomize/${name}`),
      ...more,
    };
    writeFileSync(join(directory, 'kustomization.yaml'), stringify(kustomization));
    const options = { encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES } as const;
    const output = execFileSync(KUBECTL, ['kustomize', directory], options);
    return byTitle(parseAllDocuments(output).map((one) => one.toJS() as KubeObject));
  }

  function byTitle(objects: readonly KubeObject[]): Readonly<Record<string, KubeObject>> {
    const titled = objects.map((object) => {
      const { namespace = '', name = '' } = object.metadata;
      return [`${object.kind} ${namespace}/${name}`, object] as const;
    });
    return Object.fromEntries(titled);
  }

  const names = Object.keys(COMPONENTS);

  test.each([[[]], ...names.map((name) => [[name]]), [names]])(
    'makes with %j what lockstep install makes',
    (components: readonly string[]) => {
      const options = components.map((name) => COMPONENTS[name]);
      const settings = Object.assign({ ...SETTINGS }, ...options);
      const wanted = manifest(settings).map(({ object }) => object);
      expect(build(components)).toEqual(byTitle(wanted));
    },
  );

  test('takes images of your own as the guide says', () => {
    const agent = 'registry.example.com/lockstep/agent:2';
    const built = build(['no-webhooks'], {
      images: [
        { name: 'lockstep/operator', newName: 'registry.example.com/operator', newTag: '2' },
      ],
      patches: [
        {
          target: { kind: 'Deployment', name: 'lockstep-operator' },
          patch: `- op: add\n  path: /spec/template/spec/containers/0/args/-\n  value: --agent-image=${agent}\n`,
        },
      ],
    });
    expect(built['Deployment lockstep-system/lockstep-operator']).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                image: 'registry.example.com/operator:2',
                args: expect.arrayContaining(['--webhooks=off', `--agent-image=${agent}`]),
              },
            ],
          },
        },
      },
    });
  });
});
