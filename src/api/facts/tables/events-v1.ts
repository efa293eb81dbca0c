/** Written by scripts/api-facts.ts from k8s.io/api/events/v1 0.36.4: not to be edited. */
export const eventsV1 = `
package io.k8s.api.events.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

Event
 0 ... meta.TypeMeta
 1 metadata meta.ObjectMeta
 2 eventTime! microTime
 3 series? *EventSeries
 4 reportingController? string
 5 reportingInstance? string
 6 action? string
 7 reason? string
 8 regarding? core.ObjectReference
 9 related? *core.ObjectReference
 10 note? string
 11 type? string
 12 deprecatedSource? core.EventSource
 13 deprecatedFirstTimestamp? time
 14 deprecatedLastTimestamp? time
 15 deprecatedCount? int32

EventList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Event

EventSeries
 1 count! int32
 2 lastObservedTime! microTime
`;
