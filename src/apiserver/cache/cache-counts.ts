/**
 * What a watch cache has done so far. Plain numbers: counting costs an addition, and who scrapes metrics reads them.
 */
export class CacheCounts {
  /** Changes that came from the store. */
  received = 0;
  /** Events that were handed to watchers. */
  dispatched = 0;
  /** How often all objects were read. */
  initializations = 0;
  /** Objects that new watchers were given to begin with, and events that they had missed. */
  initEvents = 0;
}
