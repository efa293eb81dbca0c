/** The links by which this machine reaches others: those of its default routes. */
import { ip } from "../machine/ip.ts";

/** Of links without a default route, and of machines without any. */
export const USUAL_MTU = 1500;
/** What IPv6 needs at least. */
const LEAST_MTU = 1280;

export interface Route {
  readonly dst?: string;
  readonly dev?: string;
  readonly nexthops?: readonly { readonly dev?: string }[];
}

export interface Link {
  readonly ifname?: string;
  readonly mtu?: number;
}

/** The largest packet that all ways out carry. Pure. */
export function mtuOf(routes: readonly Route[], links: readonly Link[]): number {
  const out = new Set(
    routes
      .filter(({ dst }) => dst === "default")
      .flatMap(({ dev, nexthops = [] }) => [dev, ...nexthops.map((each) => each.dev)]),
  );
  const sizes = links.flatMap(({ ifname, mtu }) => (out.has(ifname) && mtu !== undefined ? [mtu] : []));
  return sizes.length === 0 ? USUAL_MTU : Math.max(LEAST_MTU, Math.min(...sizes));
}

export async function uplinkMtu(): Promise<number> {
  const shown = async <T>(...args: readonly string[]) =>
    JSON.parse((await ip(["-j", ...args])) || "[]") as readonly T[];
  const [v4, v6, links] = await Promise.all([
    shown<Route>("-4", "route", "show", "default"),
    shown<Route>("-6", "route", "show", "default"),
    shown<Link>("link", "show"),
  ]);
  return mtuOf([...v4, ...v6], links);
}
