/** Helm, which `tools/control-plane/main.ts --helm` builds, and what it renders. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { parseAllDocuments } from 'yaml';
import { KUBERNETES } from '../kubernetes.ts';

export const HELM: string | undefined = process.env['LOCKSTEP_TEST_HELM'];
export const CHART = fileURLToPath(new URL('../../deploy/helm/lockstep', import.meta.url));

const TIMEOUT_MS = 180_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface HelmResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Keeps its files in `home`, and not in the user's directories. */
export function runHelm(home: string, ...args: readonly string[]): Promise<HelmResult> {
  const env = {
    ...process.env,
    KUBECONFIG: KUBERNETES,
    HELM_CACHE_HOME: home,
    HELM_CONFIG_HOME: home,
    HELM_DATA_HOME: home,
  };
  return new Promise((resolve) => {
    execFile(
      HELM ?? 'helm',
      [...args],
      { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, env },
      (error, stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      },
    );
  });
}

/** The objects of a YAML stream, by kind, namespace and name. */
export function objectsOf(yaml: string): ReadonlyMap<string, KubeObject> {
  const objects = parseAllDocuments(yaml)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
  return new Map(
    objects.map((object) => {
      const { namespace = '', name = '' } = object.metadata;
      return [`${object.kind} ${namespace}/${name}`, object];
    }),
  );
}
