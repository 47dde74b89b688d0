/** Values and items in DynamoDB's own JSON. */

/** A value in DynamoDB's own JSON. Exactly one member is set. `B` and `BS` hold base64. */
export interface Attribute {
  readonly S?: string;
  readonly N?: string;
  readonly B?: string;
  readonly BOOL?: boolean;
  readonly NULL?: true;
  readonly M?: Readonly<Record<string, Attribute>>;
  readonly L?: readonly Attribute[];
  readonly SS?: readonly string[];
  readonly NS?: readonly string[];
  readonly BS?: readonly string[];
}

/** An item, or the key of an item. Items are immutable: a write makes a new one. */
export type Item = Readonly<Record<string, Attribute>>;
