/** For clusters with the Prometheus operator: what to scrape, and the alerts. */
import { settingValues } from '../operator/configuration/setting-values.ts';
import type { Alert } from './alert.ts';
import { PROMETHEUS_RULES, SERVICE_MONITORS } from './kinds.ts';
import { METRICS_LABELS } from './operator-deployment.ts';
import { OPERATOR_NAME } from './permissions.ts';
import { RUN_ALERTS } from './run-alerts.ts';
import {
  INSTALLED_LABELS,
  type InstallationSettings,
  type Installed,
  installed,
} from './settings.ts';

export function monitoring(settings: InstallationSettings): readonly Installed[] {
  const { namespace, configuration } = settings;
  const { metricsSecure } = settingValues(configuration);
  const metadata = { namespace, name: OPERATOR_NAME };
  return [
    installed(SERVICE_MONITORS, metadata, {
      spec: {
        selector: { matchLabels: { ...INSTALLED_LABELS, ...METRICS_LABELS } },
        endpoints: [
          {
            port: 'metrics',
            interval: '15s',
            scheme: metricsSecure ? 'https' : 'http',
            // Metrics of a JobSet keep its namespace; all others get the namespace of the operator.
            honorLabels: true,
            bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
            // The certificate is self-signed, unless metrics.certDir provides another.
            tlsConfig: { insecureSkipVerify: true },
          },
        ],
      },
    }),
    installed(PROMETHEUS_RULES, metadata, {
      spec: {
        groups: [{ name: 'lockstep', rules: ALERTS.map((alert) => ruleOf(alert, namespace)) }],
      },
    }),
  ];
}

const OF_OPERATOR = 'namespace="NAMESPACE",service="lockstep-metrics"';

export const ALERTS: readonly Alert[] = [
  {
    name: 'LockstepOperatorDown',
    expression: `absent(up{${OF_OPERATOR}} == 1)`,
    forMinutes: 5,
    severity: 'critical',
    summary: 'No replica of the Lockstep operator runs',
    description:
      'Workers run on, but no failure is answered: nothing restarts, and JobSets cannot be created. Look at the Pods of the Deployment.',
  },
  {
    name: 'LockstepNoLeader',
    expression: `absent(controller_runtime_max_concurrent_reconciles{controller="jobset",${OF_OPERATOR}})`,
    forMinutes: 5,
    severity: 'critical',
    summary: 'No replica of the Lockstep operator leads',
    description:
      'Replicas run, and none of them acts on JobSets. Look at the Lease, and whether another controller holds it.',
  },
  {
    name: 'LockstepConfigurationWrong',
    expression: `max(lockstep_configuration_wrong{${OF_OPERATOR}}) > 0`,
    forMinutes: 5,
    severity: 'warning',
    summary: 'The configuration of the Lockstep operator is wrong',
    description:
      'It runs with the last settings that were right, and changes wait until the file is mended. What is wrong: lockstep doctor, or the Event of ConfigMap lockstep-operator.',
  },
  {
    name: 'LockstepJobSetsLeftOut',
    expression: `max(lockstep_jobsets_left_out{${OF_OPERATOR}}) > 0`,
    forMinutes: 5,
    severity: 'warning',
    summary: 'The Lockstep operator does nothing about {{ $value }} JobSets',
    description:
      "Those of their namespace take too much of the operator's memory. Its log and the Event LeftOut name them. Delete JobSets that are over, or give them a ttlSecondsAfterFinished.",
  },
  {
    name: 'LockstepReconcileErrors',
    expression: `sum(rate(controller_runtime_reconcile_errors_total{controller="jobset",${OF_OPERATOR}}[10m])) > 0.1`,
    forMinutes: 15,
    severity: 'warning',
    summary: 'The Lockstep operator fails again and again',
    description: 'Its log names the JobSets and what is refused; a missing right shows here too.',
  },
  {
    name: 'LockstepQueueGrows',
    expression: `max(workqueue_depth{name="jobset",${OF_OPERATOR}}) > 100`,
    forMinutes: 10,
    severity: 'warning',
    summary: 'More JobSets wait for the Lockstep operator than it works on',
    description:
      'Restarts take longer than they should. It may lack CPU, or the API server is slow.',
  },
  {
    name: 'LockstepWebhookErrors',
    expression: `sum(rate(controller_runtime_webhook_requests_total{code!="200",${OF_OPERATOR}}[10m])) > 0`,
    forMinutes: 10,
    severity: 'warning',
    summary: 'Admission requests of JobSets cannot be read',
    description: 'Somebody else calls the webhooks, or an API server speaks another version.',
  },
  {
    name: 'LockstepWebhookSlow',
    expression: `histogram_quantile(0.99, sum by (le) (rate(controller_runtime_webhook_latency_seconds_bucket{${OF_OPERATOR}}[10m]))) > 1`,
    forMinutes: 10,
    severity: 'warning',
    summary: 'Admission of JobSets and their Pods is slow',
    description: 'Creation of Pods with exclusive placement waits for it.',
  },
  {
    name: 'LockstepGroupsKeepRestarting',
    expression: `sum by (cause) (increase(lockstep_restarts_total{counted="true",${OF_OPERATOR}}[1h])) > 20`,
    forMinutes: 5,
    severity: 'warning',
    summary: 'Groups restart more than 20 times an hour',
    description:
      'Status of the JobSets names witness, node and exit code of each: look for a node that they have in common.',
  },
  {
    name: 'LockstepRestartsSlow',
    expression: `histogram_quantile(0.9, sum by (le, phase) (rate(lockstep_restart_phase_seconds_bucket{${OF_OPERATOR}}[1h]))) > 60`,
    forMinutes: 5,
    severity: 'warning',
    summary: 'A phase of restarts in place takes more than a minute',
    description:
      'detect: nodes report late. announce: Pods are missing, or agents are turned away. backoff: groups crash in a loop. release: the operator or the API server is slow.',
  },
  {
    name: 'LockstepMembersReplaced',
    expression: `sum by (reason) (increase(lockstep_members_replaced_total{${OF_OPERATOR}}[1h])) > 0`,
    forMinutes: 0,
    severity: 'warning',
    summary: 'Groups have left nodes on which their workers kept failing',
    description:
      'They go on elsewhere. Run lockstep report for the JobSets that restarted: it names the nodes. Look at these machines before others run there.',
  },
  {
    name: 'LockstepPodsDeletedByForce',
    expression: `sum by (reason) (increase(lockstep_forced_pod_deletions_total{${OF_OPERATOR}}[1h])) > 0`,
    forMinutes: 0,
    severity: 'warning',
    summary: 'Pods of lost nodes were deleted by force',
    description:
      'Their groups go on without them. Events LostPodDeleted name the nodes: look whether they are off, and delete a Node that does not come back.',
  },
  ...RUN_ALERTS,
];

function ruleOf(alert: Alert, namespace: string): object {
  const { name, expression, forMinutes, severity, summary, description } = alert;
  return {
    alert: name,
    expr: expression.replaceAll('NAMESPACE', namespace),
    for: `${forMinutes}m`,
    labels: { severity },
    annotations: { summary, description },
  };
}
