/**
 * Which API server gets a connection. Pure: reports about members come in, choices go out.
 *
 *     unknown ──► ready ◄──► draining      it answers, and says that it stops or starts: no new connections
 *        └──────────┴──────────┴──► dead   it does not answer: its connections are cut
 *
 * 1. One failed connection, or two failed checks one after the other, mean dead: a lost packet does not.
 * 2. Where no member is ready, others are tried: an old opinion is better than no connection at all.
 * 3. A member that is no longer one of the cluster is draining, not dead.
 */

export type Health = "unknown" | "ready" | "draining" | "dead";

/** What a check or a connection has shown. */
export type Report = "ready" | "not ready" | "no answer" | "refused";

export interface Member {
  /** `host:port`. */
  readonly address: string;
  readonly health: Health;
  /** Checks without an answer, one after the other. */
  readonly missed: number;
  /** The cluster no longer names it. */
  readonly isLeaving: boolean;
}

export type Members = readonly Member[];

const MISSED_BEFORE_DEAD = 2;
/** In which order they are tried. */
const ORDER: readonly Health[] = ["ready", "unknown", "draining", "dead"];

export function withAddresses(members: Members, addresses: readonly string[]): Members {
  const known = new Map(members.map((member) => [member.address, member]));
  const named = addresses.map((address): Member => ({ ...(known.get(address) ?? fresh(address)), isLeaving: false }));
  const leaving = members
    .filter(({ address, health }) => !addresses.includes(address) && health !== "dead")
    .map((member) => ({ ...member, isLeaving: true }));
  return [...named, ...leaving];
}

export function reported(members: Members, address: string, report: Report): Members {
  return members.flatMap((member) => {
    if (member.address !== address) return [member];
    const next = after(member, report);
    return next.isLeaving && next.health === "dead" ? [] : [next];
  });
}

/** In the order in which a new connection tries them. `connections`: how many each has. */
export function preferred(
  members: Members,
  connections: (address: string) => number,
  random: () => number,
): readonly string[] {
  const rank = ({ health, isLeaving }: Member) => ORDER.indexOf(health) + (isLeaving ? ORDER.length : 0);
  return members
    .map((member) => ({
      address: member.address,
      rank: rank(member),
      load: connections(member.address),
      tie: random(),
    }))
    .sort((a, b) => a.rank - b.rank || a.load - b.load || a.tie - b.tie)
    .map(({ address }) => address);
}

export function healthOf(members: Members, address: string): Health {
  return members.find((member) => member.address === address)?.health ?? "dead";
}

function after(member: Member, report: Report): Member {
  switch (report) {
    case "ready":
      return { ...member, health: "ready", missed: 0 };
    case "not ready":
      return { ...member, health: "draining", missed: 0 };
    case "refused":
      return { ...member, health: "dead", missed: MISSED_BEFORE_DEAD };
    case "no answer": {
      const missed = member.missed + 1;
      return { ...member, missed, health: missed >= MISSED_BEFORE_DEAD ? "dead" : member.health };
    }
  }
}

function fresh(address: string): Member {
  return { address, health: "unknown", missed: 0, isLeaving: false };
}
