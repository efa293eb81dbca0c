/**
 * The members of an etcd cluster, as whoever runs them sees and changes them: `k8ts status`, joins, repairs.
 *
 * 1. A new member is a learner first: it does not count for the quorum until it has everything.
 * 2. Defragmentation stops a member for its duration, so it goes through them one by one, the leader last.
 */

export interface StoreMember {
  /** Hexadecimal, as etcd prints it. */
  readonly id: string;
  /** Empty until the member has started for the first time. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLeader: boolean;
  readonly isLearner: boolean;
  /** It answers, and has a leader. */
  readonly healthy: boolean;
  /** Why it is not healthy. */
  readonly problem?: string | undefined;
  /** The following are absent while it does not answer. */
  readonly version?: string | undefined;
  readonly dbSizeBytes?: number | undefined;
  readonly raftIndex?: number | undefined;
}

/** What a new member is started with. */
export interface Joining {
  readonly id: string;
  readonly name: string;
  /** `name=peerURL,…` of all members: etcd's --initial-cluster, with --initial-cluster-state existing. */
  readonly initialCluster: string;
}

export interface EtcdMembers {
  list(): Promise<readonly StoreMember[]>;
  /** Adding a peer URL again that has not started yet answers as the first time. */
  addLearner(name: string, peerUrl: string): Promise<Joining>;
  /** Retries while the learner is not in sync with the leader, for up to a minute. */
  promote(id: string): Promise<void>;
  /** A member that is not there any more counts as removed. */
  remove(id: string): Promise<void>;
  /** Frees the space of compacted revisions on disk. */
  defragment(): Promise<void>;
  /** A snapshot that `k8ts restore`, `k8ts recover` and `k8ts migrate` read. */
  snapshotTo(file: string): Promise<void>;
  close(): Promise<void>;
}
