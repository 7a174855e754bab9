/** What an act of a scenario does, in words. */
import type { Act } from './scenario.ts';

/** `target`: the member, operator, node or ReplicatedJob that it befalls; undefined: it befalls all, or none is left. */
export function actInWords(act: Act, target: string | undefined): string {
  const one = target ?? 'no member';
  switch (act.kind) {
    case 'WorkerExits':
      return `the worker of ${one} exits with ${act.exitCode}`;
    case 'WorkerKilled':
      return `the worker of ${one} is killed`;
    case 'WorkerHangs':
      return `the worker of ${one} hangs`;
    case 'AgentCrashes':
      return `the agent of ${one} crashes`;
    case 'MarkerTorn':
      return `the agent of ${one} crashes, and ${Math.round(act.keeps * 100)} % of its marker is left`;
    case 'AgentDiesAtMarker':
      return `the agent of ${one} will die ${STEP_WORDS[act.step]}, ${act.write} others first, and what is not synced is ${act.unsynced.toLowerCase()}`;
    case 'PodDeleted':
      return `the Pod of ${one} is deleted`;
    case 'WorkerSucceeds':
      return `the worker of ${one} exits with 0`;
    case 'AllSucceed':
      return 'all workers exit with 0';
    case 'NodeSilent':
      return `${one} is silent ${lasting(act.forMs)}`;
    case 'OperatorKilled':
      return `${one} is killed, and down ${lasting(act.forMs)}`;
    case 'OperatorDiesAtWrite':
      return `${one} will die ${act.when === 'Before' ? 'before' : 'after'} a write, ${act.write} others first`;
    case 'OperatorPaused':
      return `${one} is paused ${lasting(act.forMs)}`;
    case 'OperatorClock':
      return `${one} starts again with its clock set ${ahead(act.aheadMs)}`;
    case 'ClockJumps':
      return `the clock of ${one} jumps ${ahead(act.aheadMs)}`;
    case 'HubCut':
      return `${target ?? 'every agent'} does not reach the hub ${lasting(act.forMs)}`;
    case 'HubLate':
      return `what ${one} tells the hub is late ${lasting(act.forMs)}, and comes beside its next stream`;
    case 'StreamsReset':
      return 'all streams of the hub break';
    case 'ApiFault':
      return `the API server, to ${target ?? `all ${PARTY_WORDS[act.to]}`}, ${API_WORDS[act.fault]} ${lasting(act.forMs)}`;
    case 'WatchesEnd':
      return `watches of ${target ?? `all ${PARTY_WORDS[act.to]}`} end${act.how === 'Gone' ? ', and what they saw is gone' : ''}`;
    case 'ControllersDown':
      return `the controllers of Kubernetes are down ${lasting(act.forMs)}`;
    case 'Suspended':
      return `the JobSet is suspended ${lasting(act.forMs)}`;
    case 'RestartAsked':
      return 'a user asks for a restart';
    case 'Resized':
      return `Jobs of ${one} are resized to ${act.pods} Pods`;
    case 'WebhooksDown':
      return `the network to the webhooks ${API_WORDS[act.fault]} ${lasting(act.forMs)}`;
    case 'ChangeRefused':
      return `a user asks for another ${act.change}, which webhooks refuse`;
    case 'TokenInvalid':
      return `the token of ${one} is invalid ${lasting(act.forMs)}: ${act.how}`;
    case 'TokensUnchecked':
      return `the API server checks no token ${lasting(act.forMs)}`;
    case 'PodForged':
      return `a tenant forges a Pod of ${one} that is ${act.ahead} epochs ahead`;
    case 'NodeBreaks':
      return `the node of ${one} breaks, and kills its worker, ${lasting(act.forMs)}`;
    case 'StandbyDies':
      return `a standby of ${one} dies ${DEATH_WORDS[act.when]}`;
    case 'StandbyExits':
      return `the standby of ${one} exits with 0`;
    case 'StandbySlow':
      return `the next standby of ${one} is slow to be ready, by ${Math.round(act.forMs / 1000)} s`;
  }
}

const DEATH_WORDS = {
  Now: 'at once',
  Preparing: 'before it is ready',
  Releasing: 'when its release is decided',
  Released: 'when it is released',
} as const;

const STEP_WORDS = {
  Created: 'before a write of its marker',
  Written: 'after an unsynced write of its marker',
  TextSynced: 'before its marker is renamed',
  Renamed: 'after an unsynced rename of its marker',
  Synced: 'after a write of its marker',
  Acted: 'shortly after a write of its marker',
} as const;

const PARTY_WORDS = { Operators: 'operators', Agents: 'agents' } as const;
const API_WORDS = {
  Slow: 'is slow',
  Cut: 'is cut off',
  Refuses429: 'refuses with 429',
  Refuses500: 'refuses with 500',
  LosesAnswers: 'loses its answers',
  LateWatches: 'is late with watches',
  StalledWatches: 'stalls watches',
} as const;

function lasting(ms: number): string {
  return `for ${(ms / 1000).toFixed(1)} s`;
}

function ahead(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms < 0 ? 'back' : 'ahead'}`;
}
