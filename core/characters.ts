/**
 * The length of a text in Unicode code points. Every length that the API limits is counted in
 * this unit: an emoji outside the basic plane is one character and not two.
 */
export function characters(text: string): number {
  return Array.from(text).length;
}
