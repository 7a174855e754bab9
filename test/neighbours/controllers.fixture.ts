/** The controllers of JobSets that a cluster can have, one after the other or beside each other. */
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import type { ClusterInBadWeather } from '../integration/bad-weather.fixture.ts';
import { Lockstep } from './lockstep.fixture.ts';
import { applyDefinition, Neighbour } from './neighbour.fixture.ts';

interface Running {
  stop(): Promise<void>;
}

export class Controller {
  readonly name: string;
  readonly #start: () => Promise<Running>;
  #running: Running | undefined;

  constructor(name: string, start: () => Promise<Running>) {
    this.name = name;
    this.#start = start;
  }

  /** It acts from now on. */
  async takeOver(): Promise<void> {
    this.#running = await this.#start();
  }

  /** Does nothing if it is not there. */
  async leave(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
  }
}

export interface Controllers {
  /** Ours, under our definition. */
  readonly ours: Controller;
  /** Ours beside upstream's, under the definition that is there. */
  readonly pilot: Controller;
  /** Upstream's, under its definition. */
  readonly upstreams: Controller;
  /** All of them leave. */
  leave(): Promise<void>;
}

export function controllersOf(cluster: ClusterInBadWeather): Controllers {
  const ours = new Controller('ours', async () => {
    await applyDefinition(cluster.client, JOBSET_CRD);
    return Lockstep.start(cluster);
  });
  const pilot = new Controller('ours', () => Lockstep.start(cluster, '--only-managed'));
  const upstreams = new Controller("upstream's", () => {
    const { client, state } = cluster;
    const configuration = { featureGates: { InPlaceRestart: true } };
    return Neighbour.start('jobset', { client, directory: state.path, configuration });
  });
  const leave = async (): Promise<void> => {
    for (const each of [ours, pilot, upstreams]) await each.leave();
  };
  return { ours, pilot, upstreams, leave };
}
