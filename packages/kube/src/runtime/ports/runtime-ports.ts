/** What nearly every part of a program is given by the one that starts it. */
import type { Client } from '../client/client.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';

export interface RuntimePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface ClientPorts extends RuntimePorts {
  readonly client: Client;
}

/** The ports of a part that counts what it does if there are metrics. */
export interface MeasuredPorts extends ClientPorts {
  readonly metrics?: Metrics | undefined;
}
