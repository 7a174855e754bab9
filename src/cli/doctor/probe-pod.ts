/** The Pod of `lockstep doctor --probe`, and the hub that it tries to reach. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { EnvVar, Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { HUB_PORT } from '../../deploy/operator-deployment.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import {
  AGENT_COMMAND,
  AGENT_PROBE_FLAG,
  DOCTOR,
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUTHORITIES_KEY,
  HUB_AUTHORITIES_NAME,
  JOBSET_UID,
} from '../../jobset/names.ts';
import { followsAuthorities } from '../../jobset/plan/reports/hub-reach.ts';
import { defaultAgentImage, HUB_SERVICE_NAME } from '../../operator/configuration/object-names.ts';
import { variableOf } from '../jobset-status/direct-members.ts';
import { type Asking, fact } from './finding.ts';
import type { OperatorHome } from './installation.ts';
import type { Likeness } from './likeness.ts';

/** Kubernetes ends the Pod after this time, even if this command was killed. */
const MAX_LIFE_SECONDS = 60;
const NOBODY = 65_532;

export interface KnownHub {
  readonly url: string;
  /** PEM; undefined: nothing tells them yet. */
  readonly authorities: string | undefined;
}

export function probePod(
  at: { readonly namespace: string; readonly name: string },
  image: string,
  hub: KnownHub | undefined,
  like: Likeness = { labels: {}, spec: {} },
): Pod {
  const env: readonly EnvVar[] =
    hub === undefined
      ? []
      : [
          { name: ENV_HUB_URL, value: hub.url },
          ...(hub.authorities === undefined ? [] : [{ name: ENV_HUB_CA, value: hub.authorities }]),
        ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...at,
      labels: { 'app.kubernetes.io/name': 'lockstep-doctor', ...like.labels, [DOCTOR]: 'true' },
    },
    spec: {
      ...like.spec,
      // This condition never comes, so no Service leads to the Pod, whatever its labels.
      readinessGates: [{ conditionType: DOCTOR }],
      restartPolicy: 'Never',
      activeDeadlineSeconds: MAX_LIFE_SECONDS,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: NOBODY,
        runAsGroup: NOBODY,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'probe',
          image,
          command: [AGENT_COMMAND, AGENT_PROBE_FLAG],
          env,
          resources: {
            requests: { cpu: '50m', memory: '64Mi' },
            limits: { cpu: '500m', memory: '128Mi' },
          },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}

const MAX_JOBS = 50;

/**
 * The hub that agents use: from the Jobs of a group, or from the names in an installation.
 * Undefined: no address is known, because no group has run.
 */
export async function findHub(
  client: Client,
  asking: Asking,
  place: OperatorHome,
  namespace: string,
  jobSet?: Stored<JobSet>,
): Promise<KnownHub | undefined> {
  const jobs = async (of: Parameters<typeof client.list>[1]): Promise<readonly Job[]> => {
    const read = await fact(asking, 'list jobs', (signal) =>
      client.list(JOBS, { labelSelector: JOBSET_UID, ...of, limit: MAX_JOBS, signal }),
    );
    return 'value' in read ? read.value.items : [];
  };
  const current = async (): Promise<string | undefined> => {
    const map = await fact(asking, 'get configmaps', (signal) =>
      unlessGone(client.get(CONFIG_MAPS, { namespace, name: HUB_AUTHORITIES_NAME }, { signal })),
    );
    return 'value' in map ? map.value?.data?.[HUB_AUTHORITIES_KEY] : undefined;
  };
  const own = { namespace, labelSelector: `${JOBSET_UID}=${jobSet?.metadata.uid}` };
  for (const of of [...(jobSet === undefined ? [] : [own]), { namespace }, {}]) {
    for (const job of await jobs(of)) {
      const hub = hubOf(job);
      if (hub === undefined) continue;
      if (hub.authorities === undefined || !followsAuthorities(job)) return hub;
      return { ...hub, authorities: `${hub.authorities.trimEnd()}\n${(await current()) ?? ''}` };
    }
  }
  if (place.type === 'Process') return undefined;
  const url = `https://${HUB_SERVICE_NAME}.${place.namespace}.svc:${HUB_PORT}`;
  return { url, authorities: await current() };
}

function hubOf({ spec }: Job): KnownHub | undefined {
  const pod = spec.template.spec;
  const url = variableOf(pod, ENV_HUB_URL);
  return url === undefined ? undefined : { url, authorities: variableOf(pod, ENV_HUB_CA) };
}

const AGENT_IMAGE = /^agent:\n(?:[ #].*\n){0,20}? +image: *["']?([^\s"'#]{1,512})/m;

/** The image of injected agents, by the configuration of the operator if that can be read. */
export async function agentImage(
  client: Client,
  asking: Asking,
  place: OperatorHome,
  version: string,
): Promise<string> {
  const usual = defaultAgentImage(version);
  if (place.type === 'Process') return usual;
  const at = { namespace: place.namespace, name: OPERATOR_NAME };
  const map = await fact(asking, 'get the configuration of the operator', (signal) =>
    client.get(CONFIG_MAPS, at, { signal }),
  );
  const texts = 'value' in map ? Object.values(map.value.data ?? {}) : [];
  const found = texts
    .map((text) => AGENT_IMAGE.exec(text)?.[1])
    .find((image) => image !== undefined);
  return found ?? usual;
}
