/**
 * Routes to Pods on other nodes: each node's Pod CIDR via that node, on all other nodes and on the machine (the API
 * server proxies to Pods).
 *
 * 1. Our routes have their own protocol number; only those are ever removed.
 * 2. On the machine, a range with another route is left alone.
 */
import { CommandError } from "../machine/command.ts";
import { ip } from "../machine/ip.ts";

/** Protocol numbers of routes to Pods, and of routes to load balancers. */
const PROTOCOL = "89";
export const BALANCER_PROTOCOL = "90";

export interface NodeRange {
  readonly name: string;
  readonly ip: string;
  readonly ip6?: string | undefined;
  readonly podCidrs: readonly string[];
}

export interface Route {
  readonly cidr: string;
  readonly via: string;
}

/** The routes of a node; without a name: of the machine. */
export function routesFor(nodes: readonly NodeRange[], name?: string): Route[] {
  return nodes
    .filter((node) => node.name !== name)
    .flatMap(({ ip, ip6, podCidrs }) =>
      podCidrs.flatMap((cidr) => {
        const via = cidr.includes(":") ? ip6 : ip;
        return via === undefined ? [] : [{ cidr, via }];
      }),
    );
}

export interface RouteChanges {
  readonly add: readonly Route[];
  readonly remove: readonly Route[];
}

export function routeChanges(have: readonly Route[], want: readonly Route[]): RouteChanges {
  const same = (a: Route) => (b: Route) => a.cidr === b.cidr && a.via === b.via;
  return {
    add: want.filter((route) => !have.some(same(route))),
    remove: have.filter((route) => !want.some(same(route))),
  };
}

/** Returns the ranges that have another route. */
export async function applyRoutes(
  want: readonly Route[],
  link: string,
  namespace?: string,
  protocol = PROTOCOL,
): Promise<string[]> {
  const { add, remove } = routeChanges(await ownRoutes(link, protocol, namespace), want);
  for (const { cidr, via } of remove) await ip(["route", "delete", cidr, "via", via, "dev", link], namespace);
  const taken: string[] = [];
  for (const { cidr, via } of add) {
    await ip(["route", "add", cidr, "via", via, "dev", link, "proto", protocol], namespace).catch((error: unknown) => {
      if (!(error instanceof CommandError && error.message.includes("File exists"))) throw error;
      taken.push(cidr);
    });
  }
  return taken;
}

async function ownRoutes(link: string, protocol: string, namespace?: string): Promise<Route[]> {
  const shown = async (family: "-4" | "-6", whole: number) => {
    const answer = await ip(["-j", family, "route", "show", "dev", link, "proto", protocol], namespace);
    const routes = JSON.parse(answer || "[]") as readonly { dst: string; gateway?: string }[];
    return routes.map(({ dst, gateway = "" }) => ({ cidr: dst.includes("/") ? dst : `${dst}/${whole}`, via: gateway }));
  };
  return [...(await shown("-4", 32)), ...(await shown("-6", 128))];
}
