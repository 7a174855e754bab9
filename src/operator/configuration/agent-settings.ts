/** The section of the settings about agents, and about JobSets that do not say. */
import { AGENT_DELIVERIES } from '../../jobset/injection/agent-delivery.ts';
import { RESTART_MODES } from '../../jobset/jobset.ts';
import { choice, imageName, quantities, type Setting } from './setting-types.ts';

export const AGENT_SETTINGS = {
  agentImage: {
    path: 'agent.image',
    type: imageName(),
    defaultInWords: '`lockstep/agent:VERSION`',
    help: 'image of injected agents',
    own: true,
    flag: '--agent-image',
    install: true,
    helm: 'agentImage',
  },
  agentMode: {
    path: 'agent.mode',
    type: choice(['Auto', ...RESTART_MODES], 'mode'),
    default: 'Auto',
    help: 'restart mode of JobSets without an annotation; Auto takes Supervisor where it suits all templates, otherwise Sidecar',
    see: 'in-place-restart.md#modes',
    own: true,
    flag: '--agent-mode',
    install: true,
  },
  agentInjection: {
    path: 'agent.injection',
    type: choice(['Enabled', 'Disabled'], 'whether'),
    default: 'Enabled',
    help: 'whether templates of JobSets without an annotation get an agent',
    own: true,
    flag: '--agent-injection',
    install: true,
  },
  agentDelivery: {
    path: 'agent.delivery',
    type: choice(AGENT_DELIVERIES, 'way'),
    default: 'Auto',
    help: "how a supervising agent gets into the worker's container: copied, mounted, or part of the worker's image; Auto mounts it where all nodes can",
    see: 'images.md#how-the-agent-gets-into-a-worker',
    own: true,
    flag: '--agent-delivery',
    install: true,
  },
  agentRequests: {
    path: 'agent.resources.requests',
    type: quantities(),
    defaultInWords: "a share of the worker's",
    help: 'what a sidecar agent requests',
    see: 'in-place-restart.md#what-a-sidecar-agent-asks-for',
    own: true,
  },
  agentLimits: {
    path: 'agent.resources.limits',
    type: quantities(),
    defaultInWords: "a share of the worker's",
    help: 'limits of a sidecar agent',
    see: 'in-place-restart.md#what-a-sidecar-agent-asks-for',
    own: true,
  },
  agentChannel: {
    path: 'agent.channel',
    type: choice(['Auto', 'Hub', 'API'], 'channel'),
    default: 'Auto',
    help: 'how agents of new Pods reach the operator: Hub, API (the API server), or Auto (the hub, and the API server while the hub is away)',
    see: 'agents.md#how-agents-reach-the-operator',
    own: true,
    flag: '--agent-channel',
    install: true,
  },
} as const satisfies Readonly<Record<string, Setting>>;
