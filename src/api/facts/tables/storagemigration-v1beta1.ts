/** Written by scripts/api-facts.ts from k8s.io/api/storagemigration/v1beta1 0.36.4: not to be edited. */
export const storagemigrationV1beta1 = `
package io.k8s.api.storagemigration.v1beta1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

StorageVersionMigration
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? StorageVersionMigrationSpec
 3 status? StorageVersionMigrationStatus

StorageVersionMigrationList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []StorageVersionMigration

StorageVersionMigrationSpec
 1 resource! meta.GroupResource

StorageVersionMigrationStatus
 1 conditions? []meta.Condition list=map:type patch=merge:type
 2 resourceVersion? string
`;
