/** Kinds of Kubernetes that only an installation uses. */
import type { KubeObject, LabelSelector } from '@lockstep/kube/meta.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';

export const DEPLOYMENTS: Resource<Deployment> = resource('apps/v1', 'deployments', 'Deployment');

export const NETWORK_POLICIES: Resource<NetworkPolicy> = resource(
  'networking.k8s.io/v1',
  'networkpolicies',
  'NetworkPolicy',
);

/** Which Pods it is about. */
export interface NetworkPolicy extends KubeObject {
  readonly spec?: { readonly podSelector?: LabelSelector };
}

/** The fields of a Deployment that show how it was installed and whether it is ready. */
export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly imagePullSecrets?: readonly { readonly name?: string }[];
        readonly containers?: readonly {
          readonly image?: string;
          readonly args?: readonly string[];
          readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
        }[];
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

export const POD_DISRUPTION_BUDGETS: Resource = resource(
  'policy/v1',
  'poddisruptionbudgets',
  'PodDisruptionBudget',
);

export const VALIDATING_ADMISSION_POLICIES: Resource<ValidatingAdmissionPolicy> = resource(
  'admissionregistration.k8s.io/v1',
  'validatingadmissionpolicies',
  'ValidatingAdmissionPolicy',
  'Cluster',
);

export interface ValidatingAdmissionPolicy extends KubeObject {
  readonly spec: {
    readonly failurePolicy: 'Fail' | 'Ignore';
    readonly matchConstraints: object;
    readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
    readonly variables: readonly { readonly name: string; readonly expression: string }[];
    readonly validations: readonly {
      readonly expression: string;
      readonly message: string;
      readonly reason: 'Forbidden' | 'Invalid';
    }[];
  };
  readonly status?: {
    readonly observedGeneration?: number;
    /** Type errors that the API server found in its expressions. */
    readonly typeChecking?: { readonly expressionWarnings?: readonly object[] };
  };
}

export const VALIDATING_ADMISSION_POLICY_BINDINGS: Resource = resource(
  'admissionregistration.k8s.io/v1',
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
  'Cluster',
);

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';
export const FLOW_SCHEMAS: Resource = resource(
  FLOW_CONTROL,
  'flowschemas',
  'FlowSchema',
  'Cluster',
);
export const PRIORITY_LEVELS: Resource = resource(
  FLOW_CONTROL,
  'prioritylevelconfigurations',
  'PriorityLevelConfiguration',
  'Cluster',
);

const PROMETHEUS_OPERATOR = 'monitoring.coreos.com/v1';
export const SERVICE_MONITORS: Resource = resource(
  PROMETHEUS_OPERATOR,
  'servicemonitors',
  'ServiceMonitor',
);
export const PROMETHEUS_RULES: Resource = resource(
  PROMETHEUS_OPERATOR,
  'prometheusrules',
  'PrometheusRule',
);
