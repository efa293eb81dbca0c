/** What must be true of every run. */
import type { Call, Commit, History } from "../history.ts";
import type { SimulatedCluster } from "../simulated-cluster.ts";
import type { World } from "../world.ts";

/** An invariant is broken: what is wrong, and with what. */
export interface Broken {
  readonly says: string;
  /** `Pod default/web-1`. */
  readonly about?: string | undefined;
}

export interface Watched {
  readonly cluster: SimulatedCluster;
  readonly world: World;
  readonly history: History;
  /** Messages may be late and watches may end, but nothing is lost, nobody dies, and no clock jumps. */
  readonly isGentle: boolean;
  /** Who leads, by the name of a lease. */
  readonly leaders: ReadonlyMap<string, ReadonlySet<string>>;
}

/** It is called as things happen, and returns what is wrong. */
export interface Checks {
  committed?(commit: Commit): Broken | undefined;
  answered?(call: Call): Broken | undefined;
  /** After each thing that happened. */
  always?(): Broken | undefined;
  /** When the cluster should have come to rest: what is still missing. It is asked again, for a while. */
  missing?(): Broken | undefined;
  /** At the very end. */
  end?(): Broken | undefined;
}

export interface Invariant {
  readonly name: string;
  /** One sentence. */
  readonly words: string;
  begin(run: Watched): Checks;
}
