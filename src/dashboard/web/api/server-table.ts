/** Tables as the server prints them. */
export interface ServerTable {
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string; readonly priority: number }[];
  readonly rows?: readonly ServerRow[];
}

export interface ServerRow {
  readonly cells: readonly (string | number | boolean | null)[];
  readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string } };
}

/** The content type to accept. */
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
