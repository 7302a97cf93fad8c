// What the page's address asks for, so that a view can be sent to somebody.

export const read = () => Object.fromEntries(new URLSearchParams(location.search));

// The address with these parameters; those without a value are left out.
export function create(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value);
  const query = new URLSearchParams(given).toString();
  return query ? `${path}?${query}` : path;
}
