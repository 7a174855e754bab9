/** A cluster in memory, the commands of an installation that run against it, and their output. */

import type { KubeList, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { ListOptions } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { timestamp } from '@lockstep/kube/runtime/ports/clock.ts';
import { matchesLabels, parseLabelSelector } from '@lockstep/kube/selectors/label-selector.ts';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { LEADER_ELECTION_ID } from '../../operator/configuration/object-names.ts';
import type { CommandContext } from './command-context.ts';
import { type InstallFlags, type InstallOptions, parseInstallFlags } from './options.ts';

/** Supports lists, with labels. */
class Cluster extends MemoryClient {
  override list<T extends KubeObject>(
    of: Resource<T>,
    { labelSelector = '' }: ListOptions = {},
  ): Promise<KubeList<Stored<T>>> {
    const selector = parseLabelSelector(labelSelector);
    const items = [...this.objects.values()].filter(
      ({ kind, metadata }) => kind === of.kind && matchesLabels(selector, metadata.labels),
    );
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
    return Promise.resolve(list as unknown as KubeList<Stored<T>>);
  }

  override listMetadata(of: Resource = JOBSETS, options: ListOptions = {}): never {
    // Whole objects contain the metadata.
    return this.list(of, options) as never;
  }
}

const HEAD = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';

/** With a file of these settings, if there are any. */
export function optionsOf(flags: Partial<InstallFlags> = {}, file?: string): InstallOptions {
  const config = file === undefined ? {} : { config: 'file' };
  const all = { namespace: 'lockstep-system', ...flags, ...config };
  const parsed = parseInstallFlags(all, '1.2.3', () => `${HEAD}${file}\n`);
  if ('errors' in parsed) throw new Error(parsed.errors.join());
  return parsed.options;
}

export class InstallationWorld {
  readonly client = new Cluster();
  readonly clock = new VirtualClock();
  readonly printed: string[] = [];
  readonly warned: string[] = [];

  context(serverVersion = '1.36.3'): CommandContext {
    return {
      client: this.client,
      serverVersion,
      clock: this.clock,
      signal: new AbortController().signal,
      print: (line) => this.printed.push(line),
      warn: (line) => this.warned.push(line),
    };
  }

  /** Does what a cluster does with an installation. */
  async bringUp(options = optionsOf()): Promise<void> {
    for (const { of, object } of manifest(options.settings)) await this.client.create(of, object);
    await this.becomeReady(options);
  }

  async becomeReady(options = optionsOf()): Promise<void> {
    const patch = (of: Parameters<MemoryClient['patch']>[0], name: string, body: object) =>
      this.client.patch(
        of,
        { namespace: of.namespaced ? 'lockstep-system' : '', name },
        {
          type: 'merge',
          patch: body,
        },
      );
    await patch(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD.metadata.name ?? '', {
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
    await patch(DEPLOYMENTS, 'lockstep-operator', {
      status: { replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
    });
    await this.client.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'lockstep-system', name: LEADER_ELECTION_ID },
      spec: { holderIdentity: 'a', renewTime: timestamp(this.clock), leaseDurationSeconds: 15 },
    });
    for (const of of [MUTATING_WEBHOOK_CONFIGURATIONS, VALIDATING_WEBHOOK_CONFIGURATIONS]) {
      const found = manifest(options.settings).find((one) => one.of.kind === of.kind);
      if (found === undefined) continue;
      const { name = '' } = found.object.metadata;
      const { webhooks = [] } = await this.client.get(of, { name });
      const trusting = webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: { ...webhook.clientConfig, caBundle: 'x' },
      }));
      await patch(of, name, { webhooks: trusting });
    }
  }
}
