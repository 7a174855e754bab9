/** Commands about one JobSet, or all of them. */
import type { Command } from 'commander';
import { choiceOf, optionsOf } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import type { DashboardFlags } from '../dashboard/command.ts';
import type { ListFlags } from '../jobset-list/options.ts';
import type { LogsFlags } from '../jobset-logs/options.ts';
import type { NodesFlags } from '../jobset-nodes/command.ts';
import type { ReportFlags } from '../jobset-report/command.ts';
import type { RestartFlags } from '../jobset-restart/command.ts';
import { bareJobSetName, clusterCommand, DASHBOARD_PORT } from './cluster-command.ts';

const NAMESPACE_HELP = "namespace of the JobSet; the context's by default";

export function addJobSetCommands(program: Command): void {
  program
    .command('render')
    .description(
      'print the objects that the JobSets of a file become: Jobs, Service, volume claims, rights of agents',
    )
    .argument('<file>', 'YAML or JSON file, or - for standard input')
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .action(async (file: string, flags: { output: string }) => {
      const form = choiceOf('--output', flags.output, ['yaml', 'json']);
      const { render } = await import('../render.ts');
      process.exitCode = await render(file, form);
    });

  clusterCommand(program, 'status', 'list JobSets, or show one and its members')
    .argument(
      '[jobset...]',
      'names of JobSets; without, all of the namespace are listed',
      (text: string, before: readonly string[] | undefined) => [
        ...(before ?? []),
        bareJobSetName(text),
      ],
    )
    .option('-n, --namespace <name>', NAMESPACE_HELP)
    .option('-A, --all-namespaces', 'list JobSets of all namespaces')
    .option(
      '-l, --selector <query>',
      'list only JobSets with these labels, such as team=a,env!=test',
    )
    .option('-w, --watch', 'keep showing changes until Ctrl-C')
    .option('-o, --output <format>', 'json, yaml, wide or name')
    .option('--no-headers', 'print a list without its headings')
    .action(async (names: readonly string[], flags: ListFlags & ConnectionFlags) => {
      const [name, ...others] = names;
      const { allNamespaces, selector } = flags;
      const isOne = name !== undefined && others.length === 0;
      if (isOne && allNamespaces === undefined && selector === undefined) {
        const { jobSetStatus, parseJobSetStatus } = await import('../jobset-status/command.ts');
        process.exitCode = await jobSetStatus(optionsOf(parseJobSetStatus(name, flags)), flags);
        return;
      }
      const { parseList } = await import('../jobset-list/options.ts');
      const options = optionsOf(parseList(names, flags));
      const { listJobSets } = await import('../jobset-list/command.ts');
      process.exitCode = await listJobSets(options, flags);
    });

  clusterCommand(program, 'dashboard', 'show JobSets and their runs in a browser, live')
    .option('-n, --namespace <name>', 'show only the JobSets of this namespace')
    .option('-A, --all-namespaces', 'show those of all namespaces, as by default')
    .option('--port <n>', 'port of 127.0.0.1; 0 takes any that is free', String(DASHBOARD_PORT))
    .option('--no-open', 'only print the address')
    .option('--trace <file>', 'play a trace of "npm run simulate", without any cluster')
    .action(async (flags: DashboardFlags & ConnectionFlags) => {
      const { dashboard, parseDashboard } = await import('../dashboard/command.ts');
      process.exitCode = await dashboard(optionsOf(parseDashboard(flags)), flags);
    });

  jobSetCommand(program, 'logs', 'show the logs of all members of a JobSet, in the order of time')
    .option('--rank <rank>', 'only this member: 5, or workers/5')
    .option('--process <rank>', 'only the process with this rank, of lockstep/processes-per-pod')
    .option('--epoch <n>', 'only lines of this epoch')
    .option(
      '--failed',
      'only members that failed: the suspects, or the first that was seen to fail',
    )
    .option('-f, --follow', 'go on through restarts until the JobSet has finished')
    .option('--since <duration>', 'only lines newer than this, such as 5m')
    .option('--tail <n>', 'only the last lines of each run of a container')
    .option('-c, --container <name>', "container; the worker's by default")
    .option('--timestamps', 'put its time before each line')
    .option('--agent', "show the agent's own lines too")
    .action(async (jobSet: string, flags: LogsFlags & ConnectionFlags) => {
      const { parseLogs } = await import('../jobset-logs/options.ts');
      const options = optionsOf(parseLogs(jobSet, flags));
      const { jobSetLogs } = await import('../jobset-logs/command.ts');
      process.exitCode = await jobSetLogs(options, flags);
    });

  jobSetCommand(
    program,
    'restart',
    'end the current epoch of a JobSet, so that all its workers start again',
  )
    .option('--timeout <seconds>', 'how long to wait until the next epoch runs', '60')
    .option('--no-wait', 'only ask for the restart')
    .action(async (jobSet: string, flags: RestartFlags & ConnectionFlags) => {
      const { parseRestart, restartJobSet } = await import('../jobset-restart/command.ts');
      process.exitCode = await restartJobSet(optionsOf(parseRestart(jobSet, flags)), flags);
    });

  jobSetCommand(
    program,
    'nodes',
    'list the nodes that members of a JobSet have left, or forget them',
  )
    .option('--forget <node...>', 'let new Pods use these nodes again')
    .option('--all', 'forget all of them')
    .option('--timeout <seconds>', 'how long to wait until they are forgotten', '60')
    .option('-o, --output <format>', 'json or yaml')
    .action(async (jobSet: string, flags: NodesFlags & ConnectionFlags) => {
      const { jobSetNodes, parseNodes } = await import('../jobset-nodes/command.ts');
      process.exitCode = await jobSetNodes(optionsOf(parseNodes(jobSet, flags)), flags);
    });

  jobSetCommand(
    program,
    'report',
    'show each recorded restart of a JobSet: a timeline, and who caused it',
  )
    .option('-o, --output <format>', 'json or yaml')
    .action(async (jobSet: string, flags: ReportFlags & ConnectionFlags) => {
      const { parseReport, reportJobSet } = await import('../jobset-report/command.ts');
      process.exitCode = await reportJobSet(optionsOf(parseReport(jobSet, flags)), flags);
    });
}

function jobSetCommand(program: Command, name: string, description: string): Command {
  return clusterCommand(program, name, description)
    .argument('<jobset>', 'name of the JobSet', bareJobSetName)
    .option('-n, --namespace <name>', NAMESPACE_HELP);
}
