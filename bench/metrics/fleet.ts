/** The nodes and Pods of the benchmark: what both of its processes know. */
export interface Asked {
  readonly nodes: number;
  readonly podsEach: number;
  readonly port: number;
}

/** Of a node, on loopback. */
export const addressOf = (node: number): string => `127.1.${Math.floor(node / 250)}.${(node % 250) + 1}`;
export const podName = (node: number, pod: number): string => `pod-${node}-${pod}`;
