/** What the driver remembers: one record for each volume, snapshot and group of snapshots. */

export interface ContentSource {
  readonly kind: "snapshot" | "volume";
  readonly id: string;
}

/** What is in an image. */
export interface Content {
  readonly bytes: number;
  /** Nothing can have been written to it: it may be formatted. */
  readonly isBlank: boolean;
  /** The file system in it, and how much of the image that fills. */
  readonly fsType?: string | undefined;
  readonly fsBytes?: number | undefined;
}

export interface VolumeRecord extends Content {
  readonly id: string;
  /** Order of creation, for lists. */
  readonly seq: number;
  /** Empty for an inline volume. */
  readonly name: string;
  readonly node: string;
  readonly source?: ContentSource | undefined;
  /** The node may use it. */
  readonly published?: { readonly readOnly: boolean; readonly mode: number } | undefined;
  /** An inline volume of a Pod: it ends with its publication. */
  readonly isEphemeral?: boolean | undefined;
}

export interface SnapshotRecord extends Content {
  readonly id: string;
  readonly seq: number;
  readonly name: string;
  readonly node: string;
  readonly volumeId: string;
  readonly createdMs: number;
  readonly groupId?: string | undefined;
}

export interface GroupRecord {
  readonly id: string;
  readonly seq: number;
  readonly name: string;
  readonly node: string;
  readonly createdMs: number;
  readonly volumeIds: readonly string[];
  readonly snapshotIds: readonly string[];
}

export interface RecordsByKind {
  readonly volumes: VolumeRecord;
  readonly snapshots: SnapshotRecord;
  readonly groups: GroupRecord;
}
export type RecordKind = keyof RecordsByKind;

export const RECORD_KINDS: readonly RecordKind[] = ["volumes", "snapshots", "groups"];
