/** What a runtime has of images besides their names: layers that are being received, and files to mount. */

export interface ReceivedContent {
  readonly ref: string;
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

export interface ImageMounts {
  /** What to mount, in this order at the same place, for the read-only files of an image. Idempotent for a key. */
  prepare(image: string, key: string, signal?: AbortSignal): Promise<readonly ImageMount[]>;
  /** After everything has been unmounted. */
  release(key: string, signal?: AbortSignal): Promise<void>;
}

export interface ImageMount {
  /** A file system, or `bind`. */
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}
