/** An object that must name every member of its type. Types find an optional member that is forgotten. */
type EveryMember<Of> = {
  [Name in keyof Of]-?: object extends Pick<Of, Name> ? Of[Name] | undefined : Of[Name];
};

export function defined<Of extends object>(members: EveryMember<Of>): Of {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Of;
}
