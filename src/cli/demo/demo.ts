/** The main job: a real training run on an embedded cluster that loses a worker and goes on. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JobSet } from '../../jobset/jobset.ts';
import { nodeClock } from '../../runtime/adapters/node-clock.ts';
import { systemRandom } from '../../runtime/adapters/system-random.ts';
import { type LocalCluster, startLocalCluster } from '../local-cluster.ts';
import { temporaryStateDirectory } from '../state-directory.ts';
import { onTermination } from '../termination.ts';
import { demoManifest } from './jobset-manifest.ts';
import { type DemoOptions, type DemoStrategy, killSteps } from './options.ts';
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
    const trained = await train(options, cluster, progress, options.strategy, termination.signal);
    const compared = await compare(options, cluster, progress, termination.signal);
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

async function train(
  options: DemoOptions,
  cluster: LocalCluster,
  progress: Progress,
  strategy: DemoStrategy,
  signal: AbortSignal,
  comparison = false,
): Promise<TrainingResult> {
  const name = comparison ? 'mnist-recreate' : 'mnist';
  const checkpointDirectory = join(cluster.stateDirectory, 'checkpoints', name);
  mkdirSync(checkpointDirectory, { recursive: true });
  const example = parse(
    readFileSync(new URL('../examples/mnist/jobset.yaml', import.meta.url), 'utf8'),
  ) as JobSet;
  const kills = killSteps(options);
  progress.stage(`Training MNIST on ${options.workers} workers, JobSet ${name} (${strategy})`);
  let wasKilled = false;
  return runTraining({
    client: cluster.client,
    clock: nodeClock,
    random: systemRandom,
    jobSet: demoManifest(example, { ...options, name, strategy, checkpointDirectory }),
    strategy,
    mode: options.mode,
    workers: options.workers,
    kill:
      options.kill === undefined
        ? undefined
        : { rank: options.kill, steps: comparison ? kills.slice(0, 1) : kills },
    stopAfterRecovery: comparison,
    deleteAtEnd: options.kubeconfig !== undefined,
    killProcess,
    onLine: (line) => {
      progress.training(line);
      if (line.kind === 'start' && line.rank === 0 && wasKilled) {
        const from = line.step > 0 ? `the checkpoint at step ${line.step}` : 'the beginning';
        progress.stage(`The group runs again, from ${from}`);
      }
    },
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

/** The first failure again under `Recreate`, up to the first step after it. */
async function compare(
  options: DemoOptions,
  cluster: LocalCluster,
  progress: Progress,
  signal: AbortSignal,
): Promise<readonly MeasuredRestart[]> {
  if (options.kill === undefined || options.strategy !== 'InPlaceRestart') return [];
  const result = await train(options, cluster, progress, 'Recreate', signal, true);
  return result.restarts;
}
