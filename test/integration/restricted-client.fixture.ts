/** A client with the rights of some RBAC rules and no others. */
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import type { PolicyRule } from '@lockstep/kube/objects/rbac.ts';
import { groupResourceOf, type Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forbidden } from '@lockstep/kube/status-errors.ts';
import type { Granted } from '../fixtures/cluster-under-test.ts';

/** Paths that every authenticated account may read on any cluster. */
const PUBLIC_PATHS = ['/.well-known/openid-configuration', '/openid/v1/jwks', '/version'];

/**
 * Applies the rules as the RBAC authorizer of Kubernetes does, and remembers which of them were
 * used.
 */
export class Restriction {
  /** `VERB GROUP/RESOURCE[ NAME]`, as `requestsOf` spells them. */
  readonly used = new Set<string>();
  /** What was refused. */
  readonly refused = new Set<string>();
  readonly #granted: readonly Granted[];

  constructor(granted: readonly Granted[]) {
    this.#granted = granted;
  }

  applyTo(client: Client): Client {
    const allow = (verb: string, of: Resource, at: At): void => this.#allow(verb, of, at);
    return {
      get: async (of, at, options) => {
        // The authorizer takes a Namespace for a part of itself.
        allow('get', of, of.plural === NAMESPACES.plural ? { namespace: at.name, ...at } : at);
        return client.get(of, at, options);
      },
      list: async (of, options = {}) => {
        allow('list', of, selected(options));
        return client.list(of, options);
      },
      listMetadata: async (of, options = {}) => {
        allow('list', of, selected(options));
        return client.listMetadata(of, options);
      },
      watch: (of, options) => {
        allow('watch', of, selected(options));
        return client.watch(of, options);
      },
      create: async (of, object, options) => {
        const { namespace } = object.metadata;
        allow('create', of, { namespace });
        return client.create(of, object, options);
      },
      update: async (of, object, options = {}) => {
        allow('update', of, { ...object.metadata, ...options });
        return client.update(of, object, options);
      },
      patch: async (of, at, patch, options = {}) => {
        allow('patch', of, { ...at, ...options });
        return client.patch(of, at, patch, options);
      },
      delete: async (of, at, options) => {
        allow('delete', of, at);
        return client.delete(of, at, options);
      },
      createSubresource: async (of, at, subresource, body, options) => {
        allow('create', of, { ...at, subresource });
        return client.createSubresource(of, at, subresource, body, options);
      },
      getPath: async (path, options) => {
        if (!PUBLIC_PATHS.includes(path)) throw forbidden(undefined, '', `get of ${path}`);
        return client.getPath(path, options);
      },
      logs: () => {
        throw forbidden(undefined, '', 'logs');
      },
    };
  }

  #allow(verb: string, of: Resource, { namespace, name, subresource }: At): void {
    const resource = subresource === undefined ? of.plural : `${of.plural}/${subresource}`;
    const matching = this.#granted.filter(
      ({ rule, namespace: within }) =>
        (within === undefined || within === namespace) &&
        rule.apiGroups.includes(of.group) &&
        rule.resources.includes(resource) &&
        rule.verbs.includes(verb) &&
        (rule.resourceNames === undefined || rule.resourceNames.includes(name ?? '')),
    );
    for (const { rule } of matching) {
      const named = rule.resourceNames === undefined ? '' : ` ${name}`;
      this.used.add(`${verb} ${of.group}/${resource}${named}`);
    }
    if (matching.length > 0) return;
    this.refused.add(`${verb} ${of.group}/${resource} ${namespace ?? ''}/${name ?? ''}`);
    throw forbidden(of, name ?? '', `may not ${verb} ${groupResourceOf(of)} ${resource}`);
  }
}

interface At {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** For RBAC, a list or watch of one name is a request about that name. */
function selected(options: { readonly namespace?: string; readonly fieldSelector?: string }): At {
  const name = /^metadata\.name=([^,]+)$/.exec(options.fieldSelector ?? '')?.[1];
  return { namespace: options.namespace, name };
}

/** Every request that a rule allows, as far as they can be distinguished. */
export function requestsOf(rule: PolicyRule): readonly string[] {
  return rule.verbs.flatMap((verb) =>
    rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) =>
        (rule.resourceNames ?? ['']).map((name) => `${verb} ${group}/${resource} ${name}`.trim()),
      ),
    ),
  );
}
