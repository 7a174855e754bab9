/** Asks everything at once, and puts the findings in order. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { apiServerFindings, type RawConnection, readApiServer } from './api-server.ts';
import type { Asking, Finding } from './finding.ts';
import {
  findOperator,
  installationFindings,
  type OperatorHome,
  processFindings,
  readInstallation,
} from './installation.ts';
import { jobSetsFindings, readJobSets } from './jobsets.ts';
import { nodesFindings, readNodes } from './nodes.ts';
import { runProbe } from './probe.ts';
import { agentImage } from './probe-pod.ts';
import { quotaFindings, readQuotas } from './quotas.ts';
import { reachFindings, readReach } from './reach.ts';
import { readRights, rightsFindings } from './rights.ts';
import { readSettings, settingsFindings } from './settings.ts';

export interface ExaminationOptions extends Asking {
  readonly client: Client;
  readonly connection: RawConnection;
  readonly serverVersion: string;
  /** The version of this command. */
  readonly version: string;
  /** The operator's, if the user says it. */
  readonly namespace: string | undefined;
  /** Where the user's JobSets are, or will be. */
  readonly jobSetNamespace: string;
  /** Whether a Pod looks from inside. */
  readonly hasProbe: boolean;
  /** Like whose Pods it is. */
  readonly jobSet?: Stored<JobSet>;
  /** Its image; undefined: the image of injected agents. */
  readonly image: string | undefined;
  readonly random: Random;
  readonly warn: (line: string) => void;
}

export async function examine(options: ExaminationOptions): Promise<readonly Finding[]> {
  const { client, connection, jobSetNamespace } = options;
  const place = await findOperator(client, options, options.namespace);
  const namespace = place.type === 'Process' ? undefined : place.namespace;
  const [apiServer, nodes, operator, reach, rights, quotas, jobSets] = await Promise.all([
    readApiServer(client, connection, options, jobSetNamespace),
    readNodes(client, options),
    operatorFindings(options, place),
    readReach(client, options, namespace, jobSetNamespace),
    readRights(client, options, jobSetNamespace),
    readQuotas(client, options, jobSetNamespace),
    readJobSets(client, options, jobSetNamespace),
  ]);
  const isInstalled = operator.every(
    ({ check, level }) => check !== 'objects' || level !== 'problem',
  );
  return [
    ...apiServerFindings(apiServer),
    ...nodesFindings(nodes, apiServer.clock),
    ...operator,
    // Without an installation its parts are missing for one reason, which is reported already.
    ...(isInstalled ? reachFindings(reach) : []),
    ...jobSetsFindings(jobSets),
    ...quotaFindings(quotas),
    ...rightsFindings(rights),
    ...(options.hasProbe ? await probeFindings(options, place) : []),
  ];
}

async function probeFindings(
  options: ExaminationOptions,
  place: OperatorHome,
): Promise<readonly Finding[]> {
  const { client, jobSetNamespace, version } = options;
  const image = options.image ?? (await agentImage(client, options, place, version));
  return runProbe({ ...options, place, namespace: jobSetNamespace, image });
}

async function operatorFindings(
  options: ExaminationOptions,
  place: OperatorHome,
): Promise<readonly Finding[]> {
  const { client, version } = options;
  switch (place.type) {
    case 'Process':
      return processFindings(place.host);
    case 'Cluster': {
      const { namespace } = place;
      const [installation, settings] = await Promise.all([
        readInstallation(client, options, namespace, version),
        readSettings(client, options, namespace),
      ]);
      return [...installationFindings(installation), ...settingsFindings(settings, namespace)];
    }
  }
}
