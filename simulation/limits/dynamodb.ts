/**
 * What DynamoDB allows a table on demand, beside the quotas in tools/quotas. Sources: the DynamoDB developer guide, "Service, account, and table
 * quotas", "DynamoDB on-demand capacity mode", and "Burst and adaptive capacity".
 */
export const dynamodbLimits = {
  /** Write and read units a second of one partition key, of the table or of an index. They cannot be raised. */
  partition: { writeUnits: 1_000, readUnits: 3_000 },
  /** More than this many times the peak of the last minutes may be throttled. */
  growth: { factor: 2, minutes: 30 },
  /** Factor by which a write of an item costs more in a transaction. */
  transactionFactor: 2,
  /** AWS does not say for how long a transaction holds its items, so this is an assumption. */
  holdMillis: [3, 25],
} as const;
