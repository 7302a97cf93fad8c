// The page of the API: Swagger UI over the OpenAPI document.

const dark = matchMedia("(prefers-color-scheme: dark)");
document.documentElement.classList.toggle("dark-mode", dark.matches);

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayOperationId: true, // as in the figures for Prometheus
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null, // another site would be asked
});
