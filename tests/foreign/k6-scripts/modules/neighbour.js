// A neighbour in a folder whose names are also those of its parent folder.

exports.place = "beside the module";
exports.text = open("./name.txt");
