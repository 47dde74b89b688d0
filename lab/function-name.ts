/**
 * The name of a function from its id in the template, which CloudFormation ends with a hash of eight digits.
 */
export function functionName(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}

/** Whether this function renders. The functions that render differ in their memory alone. */
export function isRenderer(name: string): boolean {
  return name.startsWith('RenderImage');
}
