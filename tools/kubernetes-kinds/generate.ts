/** From the published documents of a version to the generated files of this repository. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { downloadGoModule, stagingVersion } from '../go-module.ts';
import { definitionTexts } from './definition-text.ts';
import { GoApi, splitTitle } from './go-api.ts';
import { type GoPackage, readGoPackage } from './go-types.ts';
import { messageTexts } from './message-text.ts';
import { closureOf, readPublished } from './published.ts';
import { POD_ROOTS, SERVED_ROOTS } from './served-kinds.ts';

/** The text of each generated file by its path in the repository; `version` such as `1.36.3`. */
export async function generateKinds(version: string): Promise<ReadonlyMap<string, string>> {
  const staging = stagingVersion(version);
  const [kubernetes, api, machinery, extensions] = await Promise.all([
    downloadGoModule('k8s.io/kubernetes', `v${version}`),
    downloadGoModule('k8s.io/api', staging),
    downloadGoModule('k8s.io/apimachinery', staging),
    downloadGoModule('k8s.io/apiextensions-apiserver', staging),
  ]);
  const published = readPublished(join(kubernetes.Dir, 'api/openapi-spec/v3'));
  const podTitles = closureOf(published, POD_ROOTS);
  const titles = closureOf(published, [...POD_ROOTS, ...SERVED_ROOTS]);
  const go = goApi(titles, {
    'io.k8s.api.': api.Dir,
    'io.k8s.apimachinery.': machinery.Dir,
    'io.k8s.apiextensions-apiserver.': extensions.Dir,
  });
  const otherTitles = titles.filter((title) => !podTitles.includes(title));
  // The embedded API server takes CustomResourceDefinitions only as JSON or YAML.
  const messages = titles.filter((title) => !title.startsWith('io.k8s.apiextensions-apiserver.'));
  const tables: readonly Table[] = [
    {
      path: 'packages/kube/src/pod-schema/pod-definitions.generated.ts',
      name: 'POD_DEFINITION_TEXTS',
      contents: 'The schemas of Job and Pod templates, claims and metadata',
      notation: 'packages/kube/src/schema/definitions.ts',
      texts: definitionTexts(podTitles, published, go),
    },
    {
      path: 'packages/embedded-kubernetes/src/api-machinery/kind-schemas/kind-definitions.generated.ts',
      name: 'KIND_DEFINITION_TEXTS',
      contents: 'The schemas of built-in kinds other than those in Job and Pod templates',
      notation: 'packages/kube/src/schema/definitions.ts',
      texts: definitionTexts(otherTitles, published, go),
    },
    {
      path: 'packages/embedded-kubernetes/src/api-machinery/protobuf/messages.generated.ts',
      name: 'MESSAGES',
      contents: 'The fields of all messages by their numbers',
      notation: 'packages/embedded-kubernetes/src/api-machinery/protobuf/message-field.ts',
      texts: messageTexts(messages, go),
    },
  ];
  return new Map(tables.map((table) => [table.path, moduleText(version, table)]));
}

interface Table {
  readonly path: string;
  readonly name: string;
  readonly contents: string;
  /** The file that explains the notation. */
  readonly notation: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** The packages that `titles` are of; `modules` are directories by the beginning of titles. */
function goApi(titles: readonly string[], modules: Readonly<Record<string, string>>): GoApi {
  const packages = new Map<string, GoPackage>();
  for (const [prefix] of titles.map(splitTitle)) {
    const [start, directory] = Object.entries(modules).find(([of]) => prefix.startsWith(of)) ?? [];
    if (start === undefined || directory === undefined) throw new Error(`no module has ${prefix}`);
    const path = join(directory, prefix.slice(start.length).replaceAll('.', '/'));
    if (!existsSync(path)) throw new Error(`no package ${path}`);
    if (!packages.has(prefix)) packages.set(prefix, readGoPackage(path, prefix));
  }
  return new GoApi(packages);
}

function moduleText(version: string, { name, contents, notation, texts }: Table): string {
  const entries = Object.entries(texts).map(([prefix, text]) => `  '${prefix}': \`\n${text}\`,\n`);
  return [
    '/**\n',
    ` * ${contents}, in Kubernetes ${version}. Written by\n`,
    ' * `npm run kinds`: change what that reads, not this file.\n',
    ` * \`${notation}\` explains the notation.\n`,
    ' */\n',
    `export const ${name}: Readonly<Record<string, string>> = {\n`,
    ...entries,
    '};\n',
  ].join('');
}
