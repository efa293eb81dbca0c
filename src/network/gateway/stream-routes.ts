/**
 * Where TLSRoutes and TCPRoutes send a connection.
 *
 * 1. Of the listeners and routes of a port, the one with the most specific host takes a connection over TLS, by the
 *    name that the client asks for. A listener for HTTPS keeps its hosts.
 * 2. The older route goes first, then its name. Backends share connections by their weights; the share of a backend
 *    without a Service is refused, not given to the others.
 */
import type { Random } from "#base";
import { objectKey } from "#client";
import type { Backend } from "../http/route.ts";
import type { StreamTarget } from "../stream/target.ts";
import type { AttachedRoute, Attachments } from "./attach.ts";
import { bySpecificity, covers } from "./hosts.ts";
import { byAge } from "./rules.ts";

interface Entry {
  readonly attached: AttachedRoute;
  readonly host: string;
  readonly backends: readonly { readonly backend: Backend | undefined; readonly weight: number }[];
}

export class StreamRoutes {
  readonly #entries: readonly Entry[];
  readonly #httpsHosts: Attachments["httpsHosts"];
  readonly #random: Random;

  constructor({ routes, httpsHosts }: Pick<Attachments, "routes" | "httpsHosts">, random: Random) {
    const streams = routes.filter(({ scheme }) => scheme === "tls" || scheme === "tcp");
    this.#entries = streams
      .flatMap(entriesOf)
      .sort((a, b) => bySpecificity(a.host, b.host) || byAge(a.attached.route, b.attached.route));
    this.#httpsHosts = httpsHosts;
    this.#random = random;
  }

  /** `serverName`: what a client that speaks TLS asks for, or empty; undefined for one that does not. */
  find(port: number, serverName: string | undefined): StreamTarget | undefined {
    const host = (serverName ?? "").toLowerCase();
    const entry = this.#entries.find(
      ({ attached, host: own }) =>
        attached.port === port && (attached.scheme === "tcp" || (serverName !== undefined && covers(own, host))),
    );
    if (entry === undefined || this.#isHttps(port, host, entry.host)) return undefined;
    const { route, endsTls } = entry.attached;
    return { owner: objectKey(route), endsTls, backend: this.#choose(entry.backends) };
  }

  #isHttps(port: number, host: string, own: string): boolean {
    return this.#httpsHosts.some(
      (each) => each.port === port && covers(each.host, host) && bySpecificity(each.host, own) <= 0,
    );
  }

  #choose(backends: Entry["backends"]): Backend | undefined {
    const total = backends.reduce((sum, { weight }) => sum + weight, 0);
    if (total === 0) return undefined;
    let left = this.#random.integer(total);
    for (const { backend, weight } of backends) {
      if (left < weight) return backend;
      left -= weight;
    }
    return undefined;
  }
}

/** A TCPRoute or TLSRoute has one rule. */
function entriesOf(attached: AttachedRoute): Entry[] {
  const { route, hosts, backendOf } = attached;
  const backends = (route.spec?.rules?.[0]?.backendRefs ?? []).map((reference) => ({
    ...{ backend: backendOf(reference), weight: reference.weight ?? 1 },
  }));
  return hosts.map((host) => ({ attached, host, backends }));
}
