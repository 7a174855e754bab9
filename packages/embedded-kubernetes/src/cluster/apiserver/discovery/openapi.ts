/** Serves `/openapi/v3`. */

import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import {
  documentKey,
  openApiDocument,
  openApiIndex,
} from '../../../api-machinery/openapi/document.ts';
import type { PublishedResource } from '../../../api-machinery/openapi/published-resource.ts';
import { type ApiRequest, bytesResponse, jsonResponse } from '../http/request.ts';

/**
 * One document per group and version, made on the first request and again after the resources have
 * changed. Current clients do not need version 2; for kubectl's exception see `openapi-v2.ts`.
 */
export class OpenApi {
  readonly #resources: () => readonly PublishedResource[];
  readonly #version: string;
  #documents: ReadonlyMap<string, string> | undefined;

  constructor(resources: () => readonly PublishedResource[], version: string) {
    this.#resources = resources;
    this.#version = version;
  }

  /** Drops the documents, because the resources have changed. */
  invalidate(): void {
    this.#documents = undefined;
  }

  answer(request: ApiRequest): HttpResponse | undefined {
    const [root, version, ...rest] = request.segments;
    if (root !== 'openapi' || version !== 'v3' || request.method !== 'GET') return undefined;
    this.#documents ??= this.#make();
    const documents = this.#documents;
    if (rest.length === 0) return jsonResponse(200, openApiIndex(documents));
    const document = documents.get(rest.join('/'));
    if (document === undefined) return undefined;
    return bytesResponse(200, 'application/json', Buffer.from(document));
  }

  #make(): ReadonlyMap<string, string> {
    const groups = new Map<string, PublishedResource[]>();
    for (const of of this.#resources()) {
      const key = documentKey(of);
      groups.set(key, [...(groups.get(key) ?? []), of]);
    }
    const documents = new Map<string, string>();
    for (const [key, members] of groups) {
      documents.set(key, JSON.stringify(openApiDocument(members, this.#version)));
    }
    return documents;
  }
}
