/** Carries out the acts of a scenario in its world. */
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { EPOCH, RESTART_EPOCH } from '../jobset/names.ts';
import type { MarkerAct } from './features/marker-acts.ts';
import { type Member, runningOf } from './member.ts';
import type { OperatorReplica } from './operator-replica.ts';
import type { Act, ApiFault, Party } from './scenario.ts';
import type { Faults } from './weather.ts';
import { TENANT, type World } from './world.ts';

const SLOW_MS = 2000;
const LATE_MS = 4000;
/** After a marker is written, its agent has announced the epoch or started its worker. */
const ACTED_MS = 50;

const FAULTS: Readonly<Record<ApiFault, Partial<Faults>>> = {
  Slow: { latencyMs: SLOW_MS },
  Cut: { isCut: true },
  Refuses429: { refusal: 429 },
  Refuses500: { refusal: 500 },
  LosesAnswers: { losesAnswers: true },
  LateWatches: { watchDelayMs: LATE_MS },
  StalledWatches: { stallsWatches: true },
};

/** What ends by itself is ended by a timer, or by `healed` at the end of all acts. */
export class Actor {
  readonly #world: World;
  readonly #open = new Set<() => void>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Ends all that lasts. */
  heal(): void {
    for (const end of this.#open) end();
  }

  /** The member, operator, node or ReplicatedJob that an act befalls; undefined: all of them, or none. */
  targetOf(act: Act): string | undefined {
    const { jobs } = this.#world.scenario;
    if (act.kind === 'NodeSilent') return this.#nodeAt(act.node);
    if (act.kind === 'Resized') return jobs[act.job % jobs.length]?.name;
    if ('operator' in act) return this.#operatorAt(act.operator)?.name;
    if ('one' in act && act.one !== undefined) {
      const party = act.kind === 'ClockJumps' ? act.of : act.to;
      return party === 'Operators'
        ? this.#operatorAt(act.one)?.name
        : this.#memberAt(act.one)?.slot;
    }
    if (!('member' in act) || act.member === undefined) return undefined;
    const member = this.#memberAt(act.member);
    const isOfProcess = ['WorkerExits', 'WorkerKilled', 'WorkerHangs', 'NodeBreaks'].includes(
      act.kind,
    );
    if (member?.ranks === undefined || !isOfProcess) return member?.slot;
    return `${member.slot}, process ${this.#processAt(act.member, member)}`;
  }

  async carryOut(act: Act): Promise<void> {
    const { properties, hubs, cluster, user, webhooks, scenario, machines } = this.#world;
    switch (act.kind) {
      case 'WorkerExits':
        return this.#process(act.member, (member, process) =>
          member.exit({ exitCode: act.exitCode }, process),
        );
      case 'WorkerKilled':
        return this.#process(act.member, (member, process) =>
          member.exit({ signal: 'SIGKILL' }, process),
        );
      case 'WorkerHangs':
        return this.#process(act.member, (member, process) => {
          const running = runningOf(member);
          properties.failed(running, running.epoch ?? 0);
          member.hang(process);
        });
      case 'AgentCrashes': {
        const member = this.#memberAt(act.member);
        if (member?.epoch === undefined) return;
        properties.befell(runningOf(member));
        member.crash();
        return;
      }
      case 'MarkerTorn': {
        const member = this.#memberAt(act.member);
        if (member === undefined) return;
        properties.befell(runningOf(member));
        member.volume.tear(act.keeps);
        member.crash();
        return;
      }
      case 'AgentDiesAtMarker':
        this.#diesAtMarker(act);
        return;
      case 'PodDeleted': {
        const member = this.#memberAt(act.member);
        if (member === undefined) return;
        properties.befell(runningOf(member));
        const { namespace = '', name } = member.pod.metadata;
        await cluster.client.delete(PODS, { namespace, name }).catch(() => undefined);
        return;
      }
      case 'NodeBreaks': {
        const node = this.#memberAt(act.member)?.pod.spec.nodeName;
        if (node === undefined) return;
        this.#until(act.forMs, machines.break(node));
        return this.#process(act.member, (member, process) =>
          member.exit({ signal: 'SIGKILL' }, process),
        );
      }
      case 'StandbyDies':
        this.#memberAt(act.member)?.supervised?.standbyDies(act.when);
        return;
      case 'StandbyExits':
        this.#memberAt(act.member)?.supervised?.standbyExits();
        return;
      case 'StandbySlow':
        this.#memberAt(act.member)?.supervised?.slowStandby(act.forMs);
        return;
      case 'WorkerSucceeds':
        this.#memberAt(act.member)?.exit({ exitCode: 0 });
        return;
      case 'AllSucceed':
        for (const member of this.#world.members) member.exit({ exitCode: 0 });
        return;
      case 'NodeSilent': {
        const node = this.#nodeAt(act.node);
        const over = properties.excuse();
        await this.#world.silence(node);
        this.#until(act.forMs, () => {
          this.#world.aside(this.#world.recover(node));
          cluster.clock.setTimer(SETTLES_MS, over);
        });
        return;
      }
      case 'OperatorKilled': {
        const operator = this.#operatorAt(act.operator);
        operator?.kill();
        this.#until(act.forMs, () => operator?.start());
        return;
      }
      case 'OperatorDiesAtWrite': {
        const operator = this.#operatorAt(act.operator);
        operator?.killAtWrite(act.write, act.when);
        return;
      }
      case 'OperatorPaused': {
        const operator = this.#operatorAt(act.operator);
        operator?.pause();
        this.#until(act.forMs, () => operator?.resume());
        return;
      }
      case 'OperatorClock': {
        const operator = this.#operatorAt(act.operator);
        if (operator === undefined) return;
        operator.jump(act.aheadMs);
        operator.kill();
        operator.start();
        return;
      }
      case 'ClockJumps':
        for (const one of this.#these(act.of, act.one)) one.jump(act.aheadMs);
        return;
      case 'HubCut': {
        const { member } = act;
        const cut = member === undefined ? undefined : this.#memberAt(member);
        this.#until(act.forMs, hubs.cut(cut && [cut.pod.metadata.uid]));
        return;
      }
      case 'HubLate': {
        const uid = this.#memberAt(act.member)?.pod.metadata.uid;
        if (uid !== undefined) this.#until(act.forMs, hubs.late(uid, act.forMs));
        return;
      }
      case 'StreamsReset':
        hubs.breakAll();
        return;
      case 'ApiFault': {
        const weathers = this.#these(act.to, act.one).map(({ weather }) => weather);
        const ends = weathers.map((weather) => weather.begin(FAULTS[act.fault]));
        this.#until(act.forMs, () => {
          if (act.fault === 'StalledWatches') {
            for (const weather of weathers) weather.endWatches('Gone');
          }
          for (const end of ends) end();
        });
        return;
      }
      case 'WatchesEnd':
        for (const { weather } of this.#these(act.to, act.one)) weather.endWatches(act.how);
        return;
      case 'ControllersDown':
        this.#until(act.forMs, this.#world.controllers.begin({ isCut: true }));
        return;
      case 'Suspended':
        await user.patch({ spec: { suspend: true } });
        this.#until(act.forMs, () => this.#world.aside(user.patch({ spec: { suspend: false } })));
        return;
      case 'RestartAsked':
        await user.patch({
          metadata: { annotations: { [RESTART_EPOCH]: String(properties.epoch) } },
        });
        return;
      case 'Resized':
        await this.#world.resize(act.job, act.pods);
        return;
      case 'WebhooksDown':
        this.#until(act.forMs, webhooks.weather.begin(FAULTS[act.fault]));
        return;
      case 'ChangeRefused':
        // Without webhooks it is stored, which is the user's own fault.
        if (scenario.hasWebhooks !== true) return;
        user.tryRefused(act.change, () => this.#world.unjudged(`${act.change} was changed`));
        return;
      case 'TokenInvalid': {
        const uid = this.#memberAt(act.member)?.pod.metadata.uid;
        if (uid === undefined || hubs.tokens === undefined) return;
        this.#until(act.forMs, hubs.tokens.spoil(uid, act.how));
        hubs.break(uid);
        return;
      }
      case 'TokensUnchecked':
        if (hubs.tokens !== undefined) this.#until(act.forMs, hubs.tokens.fail());
        return;
      case 'PodForged':
        await this.#forge(act.member, Math.max(1, properties.epoch + act.ahead));
    }
  }

  /** The disk stops with the agent. A Pod that is gone by then is left alone. */
  #diesAtMarker({ member: index, write, step, unsynced }: MarkerAct): void {
    const { properties, cluster } = this.#world;
    const member = this.#memberAt(index);
    if (member === undefined) return;
    const { slot, volume } = member;
    const die = (): void => {
      if (!this.#world.members.includes(member)) return;
      properties.befell(runningOf(member));
      volume.crash(unsynced);
      properties.forgot(slot, volume.forgotten);
      member.crash();
    };
    if (step !== 'Acted') volume.at(step, write, die);
    else volume.at('Synced', write, () => void cluster.clock.setTimer(ACTED_MS, die));
  }

  /** A tenant makes a Pod in another namespace that says all that a member's says. */
  async #forge(index: number, epoch: number): Promise<void> {
    const member = this.#memberAt(index);
    if (member === undefined) return;
    const { labels, annotations, ownerReferences, name } = member.pod.metadata;
    const pod = {
      ...member.pod,
      metadata: {
        name: `${name}-${epoch}`,
        namespace: TENANT,
        labels,
        annotations: { ...annotations, [EPOCH]: String(epoch) },
        ...(ownerReferences === undefined ? {} : { ownerReferences }),
      },
    };
    const { client } = this.#world.cluster;
    const created = client.create(PODS, pod as never).catch(() => undefined);
    const stored = await this.#world.done(created);
    if (stored !== undefined) this.#world.aside(this.#world.hubs.knock(stored));
  }

  #until(forMs: number, end: () => void): void {
    const timer = this.#world.cluster.clock.setTimer(forMs, () => over());
    const over = (): void => {
      timer.cancel();
      if (this.#open.delete(over)) end();
    };
    this.#open.add(over);
  }

  /** Something befalls one process of a worker that runs; of fewer, the rest of the division counts. */
  #process(index: number, act: (member: Member, process: number) => void): void {
    const member = this.#memberAt(index);
    if (member?.epoch === undefined) return;
    const process = this.#processAt(index, member);
    this.#world.properties.befell(runningOf(member), member.ranks && process);
    act(member, process);
  }

  #processAt(index: number, { ranks }: Member): number {
    return Math.floor(index / this.#world.members.length) % (ranks?.processes ?? 1);
  }

  #nodeAt(index: number): string {
    return `node-${index % this.#world.scenario.nodes}`;
  }

  #memberAt(index: number): Member | undefined {
    const { members } = this.#world;
    return members[index % Math.max(1, members.length)];
  }

  #operatorAt(index: number): OperatorReplica | undefined {
    const { operators } = this.#world;
    return operators[index % operators.length];
  }

  /** One of a party, or all. */
  #these(party: Party, index: number | undefined): readonly (Member | OperatorReplica)[] {
    if (index === undefined) {
      const { operators, members } = this.#world;
      return party === 'Operators' ? operators : members;
    }
    const one = party === 'Operators' ? this.#operatorAt(index) : this.#memberAt(index);
    return one === undefined ? [] : [one];
  }
}

/** After a node is back, its Pods end within this time. */
const SETTLES_MS = 600_000;
