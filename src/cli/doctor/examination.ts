/** Asks everything at once, and puts the findings in order. */
import type { Client } from '../../runtime/client/client.ts';
import { apiServerFindings } from './api-server.ts';
import type { Asking, Finding } from './finding.ts';
import { findOperator, installationFindings, readInstallation } from './installation.ts';

export interface ExaminationOptions extends Asking {
  readonly client: Client;
  readonly serverVersion: string;
  /** The version of this command. */
  readonly version: string;
  /** The operator's, if the user says it. */
  readonly namespace: string | undefined;
}

export async function examine(options: ExaminationOptions): Promise<readonly Finding[]> {
  const { client, serverVersion, version } = options;
  const place = await findOperator(client, options, options.namespace);
  return [
    ...apiServerFindings(serverVersion),
    ...(place.type === 'Process'
      ? [operatorProcess(place.host)]
      : installationFindings(await readInstallation(client, options, place.namespace, version))),
  ];
}

function operatorProcess(host: string): Finding {
  const text = `the operator is a process of "lockstep up" or "lockstep demo", and answers at ${host}`;
  return { topic: 'Lockstep', check: 'operator', level: 'ok', text };
}
