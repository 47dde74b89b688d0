/** CloudFormation has no error of its own for a stack that does not exist. */
export function isNoSuchStack({ name, message }: Error): boolean {
  return name === 'ValidationError' && message.includes('does not exist');
}
