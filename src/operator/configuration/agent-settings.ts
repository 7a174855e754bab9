/** The section of the settings about agents, and about JobSets that do not say. */
import { AGENT_DELIVERIES } from '../../jobset/injection/agent-delivery.ts';
import { AGENT_CHANNELS } from '../../jobset/injection/agent-hub.ts';
import { RESTART_MODES } from '../../jobset/jobset-status.ts';
import { choice, imageName, quantities, type Setting, yesOrNo } from './setting-types.ts';

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
    type: choice(AGENT_CHANNELS, 'channel'),
    defaultInWords: '`Hub`; `API` where the operator serves no hub',
    help: 'how agents of JobSets without an annotation reach the operator: Hub, API (the API server), or Auto (the hub, and the API server while the hub is away)',
    see: 'agents.md#how-agents-reach-the-operator',
    own: true,
    flag: '--agent-channel',
    install: true,
  },
  agentRights: {
    path: 'agent.rights',
    type: yesOrNo(),
    default: false,
    help: 'give service accounts that templates name the rights that agents need at the API server, with Auto and API',
    see: 'agents.md#rights-of-your-pods',
    own: true,
    flag: '--agent-rights',
    negated: 'give none, whatever the file says',
    install: true,
  },
} as const satisfies Readonly<Record<string, Setting>>;
