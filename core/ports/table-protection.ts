/** The protection that keeps a table from being deleted. */
export interface TableProtection {
  /**
   * Switches the protection on, unless it is on. 'busy': DynamoDB changes the table at the moment, or takes no more
   * changes; a later call may succeed. Throws when DynamoDB refuses for another reason, or does not answer.
   */
  protect(tableName: string): Promise<'protected' | 'busy'>;
}
