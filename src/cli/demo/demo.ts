/** The main job: a real training run on an embedded cluster that loses a worker and continues. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JobSet } from '../../jobset/jobset.ts';
import { type LocalCluster, startLocalCluster } from '../local-cluster/local-cluster.ts';
import { PORTS } from '../ports.ts';
import { temporaryStateDirectory } from '../state-directory.ts';
import { onTermination } from '../termination.ts';
import { demoManifest } from './jobset-manifest.ts';
import {
  COMPARISON_STEPS,
  type DemoOptions,
  type DemoStandby,
  type DemoStrategy,
  killSteps,
  TRAINING_STEPS,
} from './options.ts';
import { Progress } from './progress.ts';
import { type DemoReport, type MeasuredRestart, renderReport } from './report.ts';
import { runTraining, type TrainingResult } from './training-run.ts';
import { machineProcess } from './worker-process.ts';

/** Runs the demo and returns the exit code of the command. */
export async function demo(options: DemoOptions): Promise<number> {
  const startedAt = performance.now();
  const termination = onTermination();
  const progress = new Progress(options.json ? process.stderr : process.stdout);
  const state = temporaryStateDirectory();
  let cluster: LocalCluster | undefined;
  try {
    const { kubeconfig } = options;
    progress.stage(
      kubeconfig === undefined
        ? `Starting an embedded Kubernetes in ${state.path}`
        : `Joining the Kubernetes of ${kubeconfig} as a node in ${state.path}`,
    );
    cluster = await startLocalCluster({
      state,
      remove: !options.keep,
      kubeconfig,
      signal: termination.signal,
    });
    const { strategy } = options;
    const first: Turn = {
      name: 'mnist',
      strategy,
      standby: null,
      steps: TRAINING_STEPS,
      isComparison: false,
    };
    const trained = await train(options, first, cluster, progress, termination.signal);
    const compared: MeasuredRestart[] = [];
    for (const turn of comparisons(options)) {
      const result = await train(options, turn, cluster, progress, termination.signal);
      compared.push(...result.restarts);
    }
    const report: DemoReport = {
      accuracy: trained.accuracy ?? 0,
      durationMs: Math.round(performance.now() - startedAt),
      workers: options.workers,
      steps: trained.steps,
      restarts: [...trained.restarts, ...compared],
    };
    process.stdout.write(
      options.json ? `${JSON.stringify(report)}\n` : `\n${renderReport(report)}`,
    );
    return 0;
  } catch (error) {
    const code = termination.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    await cluster?.stop();
    state.release(!options.keep);
    if (options.keep) progress.stage(`Kept ${state.path}`);
    termination.dispose();
  }
}

/** One training run of the demo. */
interface Turn {
  /** The name of its JobSet. */
  readonly name: string;
  readonly strategy: DemoStrategy;
  readonly standby: DemoStandby;
  readonly steps: number;
  /** It goes up to the first step after the first failure. */
  readonly isComparison: boolean;
}

async function train(
  options: DemoOptions,
  turn: Turn,
  cluster: LocalCluster,
  progress: Progress,
  signal: AbortSignal,
): Promise<TrainingResult> {
  const { name, strategy, standby, steps, isComparison } = turn;
  const checkpointDirectory = join(cluster.stateDirectory, 'checkpoints', name);
  mkdirSync(checkpointDirectory, { recursive: true });
  const example = parse(
    readFileSync(new URL('../examples/mnist/jobset.yaml', import.meta.url), 'utf8'),
  ) as JobSet;
  const kills = killSteps(options);
  const how = standby === null ? strategy : `${strategy}, warm standby`;
  progress.stage(`Training MNIST on ${options.workers} workers, JobSet ${name} (${how})`);
  let wasKilled = false;
  return runTraining({
    client: cluster.client,
    ...PORTS,
    jobSet: demoManifest(example, { ...options, ...turn, checkpointDirectory }),
    strategy,
    mode: options.mode,
    standby,
    workers: options.workers,
    kill:
      options.kill === undefined
        ? undefined
        : { rank: options.kill, steps: isComparison ? kills.slice(0, 1) : kills },
    stopAfterRecovery: isComparison,
    deleteAtEnd: options.kubeconfig !== undefined,
    killProcess,
    onLine: (line) => {
      progress.training(line, isComparison ? '' : `/${steps}`);
      if (line.kind === 'start' && line.rank === 0 && wasKilled) {
        const from = line.step > 0 ? `the checkpoint at step ${line.step}` : 'the beginning';
        progress.stage(`The group runs again, from ${from}`);
      }
    },
    onWait: () => progress.stage('Waiting until every worker has a standby that is ready'),
    onKill: (rank, pid, step) => {
      wasKilled = true;
      progress.stage(`Killing worker ${rank} (process ${pid}) at step ${step}`);
    },
    signal,
  });
}

function killProcess(pid: number, container: string): number | undefined {
  const found = machineProcess(pid, container);
  if (found !== undefined) process.kill(found, 'SIGKILL');
  return found;
}

/** The first failure again, under `Recreate` and with warm standbys. */
function comparisons({ kill, strategy, mode }: DemoOptions): readonly Turn[] {
  if (kill === undefined || strategy !== 'InPlaceRestart') return [];
  const recreate = { name: 'mnist-recreate', strategy: 'Recreate', standby: null } as const;
  const warm = { name: 'mnist-warm', strategy: 'InPlaceRestart', standby: 'Warm' } as const;
  // Only a supervisor can start a second process.
  const turns = mode === 'supervisor' ? [recreate, warm] : [recreate];
  return turns.map((turn) => ({ ...turn, steps: COMPARISON_STEPS, isComparison: true }));
}
