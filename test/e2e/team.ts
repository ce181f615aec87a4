/** The namespace where a team declares what it needs, and runs what uses it. */
export const TEAM = 'shop';
