<?php
// Reads a body as a script under php-cgi does: from $_POST and $_FILES. PHP makes arrays of names with brackets,
// and this restores the names.

function told(string $name, string $content, array $known): array
{
    return ['name' => base64_encode($name), 'bytes' => base64_encode($content)]
        + array_map(fn ($value) => $value === null ? null : base64_encode($value), $known);
}

function fields(array $values, ?string $outer): array
{
    $parts = [];
    foreach ($values as $key => $value) {
        $name = $outer === null ? (string) $key : "{$outer}[$key]";
        $parts = array_merge(
            $parts, is_array($value) ? fields($value, $name) : [told($name, $value, ['filename' => null])]);
    }
    return $parts;
}

function files(string $name, $names, $types, $places, $errors): array
{
    if (is_array($names)) {
        $parts = [];
        foreach ($names as $key => $_) {
            $parts = array_merge(
                $parts, files("{$name}[$key]", $names[$key], $types[$key], $places[$key], $errors[$key]));
        }
        return $parts;
    }
    // PHP reports an empty file name as UPLOAD_ERR_NO_FILE.
    $content = $errors === UPLOAD_ERR_OK ? file_get_contents($places) : "upload error $errors";
    return [told($name, $content, ['filename' => $names, 'type' => $types])];
}

$parts = fields($_POST, null);
foreach ($_FILES as $name => $file) {
    $parts = array_merge(
        $parts, files((string) $name, $file['name'], $file['type'], $file['tmp_name'], $file['error']));
}
$said = ['version' => PHP_VERSION, 'parts' => $parts];
if ($warning = error_get_last()) {
    $said['error'] = $warning['message'];
}
echo json_encode($said, JSON_THROW_ON_ERROR);
